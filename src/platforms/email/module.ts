// The module of the platform `email`: what Switchboard knows before it runs one.
import { type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import { emailOptions } from './config.ts'
import { emailGates } from './gates.ts'
import { completeAnswers, isUnknownProvider } from './providers.ts'

/** `mailto://`, `mailto://bot@example.org`, or `mailto://bot:PASSWORD@example.org?imap=HOST&smtp=HOST`. */
function fromLine(rest: string): Readonly<Record<string, string>> {
  if (rest === '') return {}
  const [, user, password, host, query = ''] =
    /^([^:@/?\s]+)(?::([^@/?\s]+))?@([\w.-]+)\/?(?:\?(.*))?$/.exec(rest) ?? []
  if (user === undefined || host === undefined)
    throw new SwitchboardError('input_invalid', 'mailto:// takes an address, and a password before the @', {
      hint: 'mailto://USER@DOMAIN, with ?imap=HOST&smtp=HOST where the servers are not known',
    })
  const secret = password === undefined ? undefined : decoded(password)
  const answers: Record<string, string> = { address: `${decoded(user)}@${host}` }
  if (secret !== undefined) Object.assign(answers, { 'imap.password': secret, 'smtp.password': secret })
  const keys: Readonly<Record<string, string>> = {
    imap: 'imap.host',
    smtp: 'smtp.host',
    from: 'access.allow_from',
  }
  for (const [key, value] of new URLSearchParams(query)) {
    const option = keys[key]
    if (option === undefined || value === '')
      throw new SwitchboardError('input_invalid', 'mailto:// takes ?imap=HOST, smtp=HOST and from=ADDRESS')
    answers[option] = value
  }
  return answers
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new SwitchboardError('input_invalid', 'mailto://: what stands behind a % is no character')
  }
}

export const emailModule: PlatformModule = {
  name: 'email',
  options: emailOptions,
  docs: 'docs/platforms/email.md',
  title: 'Email',
  defaultAccess: { dm: 'allowlist' },
  provesSenders: ({ require_auth_results }) => require_auth_results === true,
  setup: {
    questions: [
      { key: 'address', flag: 'address', ask: 'address of the mailbox' },
      { key: 'imap.host', flag: 'imap-host', ask: 'IMAP server', when: isUnknownProvider },
      {
        key: 'imap.password',
        flag: 'imap-password',
        ask: 'password for IMAP (an app password, at many providers)',
        secret: true,
      },
      { key: 'smtp.host', flag: 'smtp-host', ask: 'SMTP server', when: isUnknownProvider },
      {
        key: 'smtp.password',
        flag: 'smtp-password',
        ask: 'password for SMTP (often the same)',
        secret: true,
      },
      {
        key: 'access.allow_from',
        flag: 'from',
        ask: 'who may write to it, and decide (addresses, with a comma between)',
      },
      {
        key: 'authserv_id',
        flag: 'authserv-id',
        ask: 'first word behind Authentication-Results in a mail that came there (empty: DKIM is verified here)',
        when: isUnknownProvider,
        optional: () => true,
      },
    ],
    complete: completeAnswers,
    url: ({ options }) => (typeof options.address === 'string' ? `mailto:${options.address}` : null),
    schemes: { mailto: fromLine },
    try: async (options, { clock }) => (await import('./try-login.ts')).tryLogin(options, clock),
  },
  doctor: ({ origin, options }) =>
    emailGates(options).map((gate) => ({ ...gate, key: `${origin}.${gate.key}` })),
  create: async (deps) => (await import('./index.ts')).createEmail(deps),
}
