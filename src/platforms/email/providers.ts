// What is known of mail providers before anybody asks them, by the domain of an address: where their servers are, and which
// server's Authentication-Results counts. From their documentation; never tried with the real ones.
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
 * Hosts of providers that take headers of their own name out of mail that comes in, and write theirs below their own
 * `Received`.
 */
const STRIPPING = /(^|\.)(gmail\.com|googlemail\.com|fastmail\.com|messagingengine\.com|mail\.me\.com)$/

export function writesResultsBelow(imapHost: string): boolean {
  return STRIPPING.test(imapHost.toLowerCase())
}

function providerOf(address: unknown): Provider | undefined {
  const text = typeof address === 'string' ? address.trim().toLowerCase() : ''
  return BY_DOMAIN.get(text.slice(text.lastIndexOf('@') + 1))
}

/** Whether the servers of this address have to be asked for. */
export function isUnknownProvider({ address }: Options): boolean {
  return providerOf(address) === undefined
}

/** What follows from the answers: the provider's servers, and that whoever may write may also decide. By key. */
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
