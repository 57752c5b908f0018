// What Switchboard knows of the platform `email` before it runs one.
import type { PlatformModule } from '../../contract/index.ts'
import { emailOptions } from './config.ts'
import { emailGates } from './gates.ts'

export const emailModule: PlatformModule = {
  name: 'email',
  options: emailOptions,
  docs: 'docs/platforms/email.md',
  defaultAccess: { dm: 'allowlist' },
  setup: {
    questions: [
      { key: 'address', flag: 'address', ask: 'address of the mailbox' },
      { key: 'imap.host', flag: 'imap-host', ask: 'IMAP server' },
      {
        key: 'imap.password',
        flag: 'imap-password',
        ask: 'password for IMAP (an app password, at many providers)',
        secret: true,
      },
      { key: 'smtp.host', flag: 'smtp-host', ask: 'SMTP server' },
      {
        key: 'smtp.password',
        flag: 'smtp-password',
        ask: 'password for SMTP (often the same)',
        secret: true,
      },
    ],
    try: async (options, { clock }) => (await import('./try-login.ts')).tryLogin(options, clock),
  },
  doctor: ({ origin, options }) =>
    emailGates(options).map((gate) => ({ ...gate, key: `${origin}.${gate.key}` })),
  create: async (deps) => (await import('./index.ts')).createEmail(deps),
}
