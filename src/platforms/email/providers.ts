// Known mail providers by the domain of an address: where their servers are, and which server's Authentication-Results
// counts. It is taken from their documentation and was never tried with the real servers.
import type { Options } from '../../contract/index.ts'

interface Provider {
  readonly imap: Options
  readonly smtp: Options
  readonly authserv: string | readonly string[]
}

const GMAIL: Provider = {
  imap: { host: 'imap.gmail.com' },
  smtp: { host: 'smtp.gmail.com' },
  authserv: 'mx.google.com',
}
const FASTMAIL: Provider = {
  imap: { host: 'imap.fastmail.com' },
  smtp: { host: 'smtp.fastmail.com' },
  authserv: '*.messagingengine.com',
}
const ICLOUD: Provider = {
  imap: { host: 'imap.mail.me.com' },
  smtp: { host: 'smtp.mail.me.com', port: 587, tls: 'starttls' },
  authserv: ['dmarc.icloud.com', 'spf.icloud.com', 'dkim-verifier.icloud.com'],
}
const BY_DOMAIN: ReadonlyMap<string, Provider> = new Map([
  ['gmail.com', GMAIL],
  ['googlemail.com', GMAIL],
  ['fastmail.com', FASTMAIL],
  ['icloud.com', ICLOUD],
  ['me.com', ICLOUD],
])

/**
 * Providers that remove headers of their own name from incoming mail, and write theirs below their own `Received`.
 */
const STRIPPING = /(^|\.)(gmail\.com|googlemail\.com|fastmail\.com|messagingengine\.com|mail\.me\.com)$/

export function writesResultsBelow(imapHost: string): boolean {
  return STRIPPING.test(imapHost.toLowerCase())
}

function providerOf(address: unknown): Provider | undefined {
  const text = typeof address === 'string' ? address.trim().toLowerCase() : ''
  return BY_DOMAIN.get(text.slice(text.lastIndexOf('@') + 1))
}

/** Whether the servers of this address must be asked for. */
export function isUnknownProvider({ address }: Options): boolean {
  return providerOf(address) === undefined
}

/** Adds what follows from the answers, by key: the provider's servers, and that admitted senders may also decide. */
export function completeAnswers(answers: Options): Options {
  const { address, access, authserv_id } = answers as {
    readonly address?: unknown
    readonly access?: { readonly allow_from?: unknown }
    readonly authserv_id?: unknown
  }
  const provider = providerOf(address)
  const named = (key: 'imap' | 'smtp') =>
    (answers[key] as { readonly host?: unknown } | undefined)?.host !== undefined
  const from = (key: 'imap' | 'smtp') =>
    provider === undefined || named(key)
      ? []
      : Object.entries(provider[key]).map(([name, value]) => [`${key}.${name}`, value] as const)
  const who = access?.allow_from
  const allowed =
    typeof who === 'string'
      ? who
          .toLowerCase()
          .split(/[\s,]+/)
          .filter((one) => one !== '')
      : null
  return Object.fromEntries([
    ...from('imap'),
    ...from('smtp'),
    ...(provider === undefined || authserv_id !== undefined
      ? []
      : [['authserv_id', provider.authserv] as const]),
    ...(allowed === null
      ? []
      : [['access.allow_from', allowed] as const, ['access.approvers', allowed] as const]),
  ])
}
