// One connection to the IMAP server. It has deadlines, tells its errors apart, and never hangs. It never reconnects;
// the caller makes the next one.
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
/** IDLE is renewed long before a server ends it. */
const MOST_IDLE_MS = 9 * 60_000
const MOST_LITERAL_BYTES = 128 * 1_048_576

/** Throws `platform_unavailable` with the server's answer, never a password. */
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
  // Without a listener a timeout would end the process. `close` reports it.
  client.on('error', () => undefined)
  // As the server said it. A refused token is not sent again.
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

/** Runs a command with a deadline. The connection to a silent server is closed. */
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
 * Returns the matching UIDs in the open folder. imapflow answers `false` when a search failed, also when the connection
 * broke. Taking that for an empty result would turn a lost answer into an empty mailbox.
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
  // A server with too many connections reports a failed login.
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
