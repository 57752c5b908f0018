// One connection to the IMAP server: made with deadlines, told apart by what went wrong, and never left to hang. An instance
// never reconnects; whoever needs the next one makes it.
import type { ImapFlow, SearchObject } from 'imapflow'
import { type Clock, SwitchboardError, withoutNulls } from '../../../contract/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import type { AccessTokens } from './oauth.ts'

export interface ImapDeps {
  readonly clock: Clock
  readonly tokens: AccessTokens | null
}

/** How soon IDLE begins after the last command. */
const IDLE_AFTER_MS = 50
/** Renewed long before a server ends it. */
const MOST_IDLE_MS = 9 * 60_000
const MOST_LITERAL_BYTES = 128 * 1_048_576

/** Throws `platform_unavailable` with what the server said, never a password. */
export async function connectImap(config: EmailConfig, timings: Timings, deps: ImapDeps): Promise<ImapFlow> {
  const { imap } = config
  const accessToken = imap.password === null && deps.tokens !== null ? await deps.tokens.get() : null
  const { ImapFlow: Client } = await import('imapflow')
  const client = new Client({
    host: imap.host,
    port: imap.port,
    secure: imap.tls === true,
    doSTARTTLS: imap.tls === 'starttls',
    auth:
      accessToken === null
        ? { user: imap.user, pass: imap.password ?? '' }
        : { user: imap.user, accessToken },
    tls: { servername: imap.host, ...withoutNulls({ ca: imap.ca }) },
    logger: false,
    autoIdleDelay: IDLE_AFTER_MS,
    maxIdleTime: MOST_IDLE_MS,
    connectionTimeout: timings.connectMs,
    greetingTimeout: timings.connectMs,
    socketTimeout: Math.max(60_000, 2 * timings.commandMs),
    maxLiteralSize: MOST_LITERAL_BYTES,
  })
  // Without a listener a timeout would end the process; what it means is told by `close`.
  client.on('error', () => undefined)
  // As the server put it: a token that it refuses is not shown to it again.
  const connected = client.connect().catch((thrown: unknown) => {
    if (isRefusedLogin(thrown)) deps.tokens?.forget()
    throw thrown
  })
  try {
    await answered(client, connected, 2 * timings.connectMs, deps.clock)
    return client
  } catch (thrown) {
    client.close()
    throw imapError(thrown)
  }
}

/** A command with a deadline of its own: a server that stays silent is left. */
export async function answered<T>(client: ImapFlow, asked: Promise<T>, ms: number, clock: Clock): Promise<T> {
  let cancel = () => undefined as unknown
  const late = new Promise<never>((_, reject) => {
    cancel = clock.after(ms, () => {
      client.close()
      reject(new SwitchboardError('platform_unavailable', `IMAP: no answer within ${ms} ms`))
    })
  })
  try {
    return await Promise.race([asked, late])
  } catch (thrown) {
    asked.catch(() => undefined)
    throw imapError(thrown)
  } finally {
    cancel()
    late.catch(() => undefined)
  }
}

/**
 * The UIDs that match, in the open folder. imapflow answers `false` where a search failed, also because the connection broke:
 * taken for nothing, it would make a lost answer an empty mailbox.
 */
export async function uidsOf(
  client: ImapFlow,
  query: SearchObject,
  ms: number,
  clock: Clock,
): Promise<number[]> {
  const found = await answered(client, client.search(query, { uid: true }), ms, clock)
  if (!Array.isArray(found)) throw new SwitchboardError('platform_unavailable', 'IMAP: the search failed')
  return found
}

interface ImapFault {
  readonly code?: unknown
  readonly authenticationFailed?: unknown
  readonly serverResponseCode?: unknown
  readonly responseText?: unknown
  readonly message?: unknown
}

function isRefusedLogin(thrown: unknown): boolean {
  const { authenticationFailed, serverResponseCode } = (thrown ?? {}) as ImapFault
  // Too many connections are reported as a failed login, and are none.
  return authenticationFailed === true && serverResponseCode !== 'LIMIT'
}

export function imapError(thrown: unknown): SwitchboardError {
  if (thrown instanceof SwitchboardError) return thrown
  const fault = (thrown ?? {}) as ImapFault
  const said = [fault.serverResponseCode, fault.responseText ?? fault.message ?? fault.code]
    .filter((one) => typeof one === 'string' && one !== '')
    .join(': ')
    .slice(0, 300)
  if (isRefusedLogin(thrown))
    return new SwitchboardError('platform_unavailable', `IMAP: the login was refused (${said})`, {
      hint: 'see imap.user and imap.password; many providers want an app password or oauth2',
      retryAfterMs: 30_000,
    })
  return new SwitchboardError('platform_unavailable', `IMAP: ${said || 'the connection broke'}`)
}
