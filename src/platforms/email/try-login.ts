// Tries the login at both servers before anything is stored. It needs no integration.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { DEFAULT_TIMINGS, readConfig } from './config.ts'
import { connectImap } from './link/imap-client.ts'
import { createAccessTokens } from './link/oauth.ts'
import { createSmtp } from './link/smtp.ts'

/** `options` contain the secrets themselves. Throws a server's answer, never a password. */
export async function tryLogin(options: Options, clock: Clock): Promise<{ readonly who: string }> {
  const secrets = new Map<string, string>()
  const config = readConfig({
    integration: { id: 'try', options: withReferences(options, secrets) },
    secret: (reference) => secrets.get(reference) ?? '',
  })
  const timings = { ...DEFAULT_TIMINGS, connectMs: 10_000, commandMs: 10_000, sendMs: 10_000 }
  const tokens = config.oauth === null ? null : createAccessTokens(config.oauth, clock)
  const client = await connectImap(config, timings, { clock, tokens })
  try {
    const box = await client.mailboxOpen(config.options.mailbox).catch(() => null)
    if (box === null)
      throw new SwitchboardError(
        'platform_unavailable',
        `IMAP: there is no folder "${config.options.mailbox}"`,
      )
    const smtp = createSmtp(config, timings, { clock, tokens })
    await smtp.tryLogin().finally(() => smtp.close())
    return { who: `${config.address} (${box.exists} mails in ${config.options.mailbox})` }
  } finally {
    client.close()
  }
}

const SECRET_KEYS: ReadonlySet<string> = new Set(['password', 'ca', 'client_secret', 'refresh_token'])

/** Returns the options as a file has them, with each secret as a reference. */
function withReferences(options: Options, secrets: Map<string, string>): Options {
  const walk = (value: unknown, path: string): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const at = `${path}_${key}`
        if (!SECRET_KEYS.has(key) || typeof inner !== 'string') return [key, walk(inner, at)]
        secrets.set(`secret:${at}`, inner)
        return [key, `secret:${at}`]
      }),
    )
  }
  return walk(options, 'try') as Options
}
