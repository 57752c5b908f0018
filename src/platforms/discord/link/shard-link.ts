// One shard without a gap. One loop: connect → hello → resume or identify → the session stands. It goes round again when the
// connection ends, when Discord asks for it, and when somebody asks for a new one (which then stands before the old one is
// left). Every failure is waited out and told; none ends the loop. A session that is refused three times is given up: what
// lies between it and the next is found in the history.
import { asSwitchboardError, type Logger, SwitchboardError } from '../../../contract/index.ts'
import { backoffMs, type LinkState } from '../../../kit/index.ts'
import { type Ending, endingOf } from './close-codes.ts'
import {
  type Dispatch,
  GatewayEnded,
  type GatewaySocket,
  type OpenDeps,
  openSocket,
  type Session,
} from './gateway-socket.ts'

export interface ShardOrder {
  readonly shard: readonly [number, number]
  readonly token: string
  readonly intents: number
  readonly session: Session | null
}

export interface ShardDeps extends OpenDeps {
  readonly log: Logger
  readonly tell: (link: LinkState) => void
  /** Where to connect; asked each time. Throws as the client does. */
  readonly gatewayUrl: () => Promise<string>
  /** Whether an address that Discord gave may be connected to. */
  readonly isGateway: (url: string) => boolean
  /** Resolves when it may be identified. What is no longer wanted takes no place. */
  readonly mayIdentify: (isWanted: () => boolean) => Promise<void>
  readonly connected: () => void
  readonly dispatch: (dispatch: Dispatch) => void
  /** It can go on only with another number of shards. */
  readonly reshard: () => void
}

export interface ShardLink {
  /** The session of the connection that stands, or of the last one. */
  session(): Session | null
  renew(cause: string): void
  /** What came by this session could not be stored: it is asked for again. */
  again(session: Session, cause: string): void
  probe(): Promise<'hears' | 'deaf'>
  /** No connection is open or will be opened. */
  stop(): void
}

const MOST_REFUSALS = 3
const STOPPED: Ending = { next: 'resume', why: 'stopped' }

export function startShardLink(order: ShardOrder, deps: ShardDeps): ShardLink {
  const { clock, log, timings } = deps
  let session = order.session
  let current: GatewaySocket | null = null
  let stopped = false
  /** Since a session stood last: of every kind, and of a resume that reached Discord. */
  let failures = 0
  let refusals = 0
  let fresh = false
  let stoodAt = 0
  let wake: () => void = () => undefined
  let giveUp: () => void = () => undefined
  let reconnect: (ending: Ending) => void = () => undefined

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (stopped) return resolve()
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })

  const urlOf = async (resume: Session | null): Promise<string> => {
    // An address for resuming that does not answer is tried in turn with the usual one.
    const own = resume?.resumeUrl ?? null
    const base = own !== null && failures % 2 === 0 && deps.isGateway(own) ? own : await deps.gatewayUrl()
    if (!deps.isGateway(base))
      throw new SwitchboardError('platform_unavailable', 'Discord: /gateway/bot gave no address of Discord’s')
    const url = new URL(base)
    url.searchParams.set('v', '10')
    url.searchParams.set('encoding', 'json')
    return url.href
  }

  const connect = async (): Promise<Ending> => {
    const resume = fresh || session?.id === '' ? null : session
    const url = await urlOf(resume)
    if (stopped) return STOPPED
    let mine: GatewaySocket | null = null
    let over = null as Ending | null
    const ending = new Promise<Ending>((resolve) => {
      reconnect = resolve
    })
    const reconnectMine = reconnect
    const opened = await openSocket(
      { ...order, url, resume, mayIdentify: deps.mayIdentify, onAttempt: (give) => (giveUp = give) },
      {
        dispatch: deps.dispatch,
        closed(why) {
          over = why
          if (mine !== null && current === mine) current = null
          reconnectMine(why)
        },
        unreadable: () => log.warn({}, 'a frame of Discord could not be read'),
      },
      deps,
    )
    mine = opened
    if (stopped) {
      opened.close('stopped')
      return STOPPED
    }
    session = opened.session
    fresh = false
    // It can end in the very moment in which it stands, before anybody holds it.
    if (over !== null) throw new GatewayEnded(over)
    const before = current
    current = opened
    before?.close('the next one stands')
    if (failures > 0) log.info({}, 'connected again')
    refusals = 0
    stoodAt = clock.now()
    deps.tell({ state: 'up', since: clock.now() })
    deps.connected()
    return ending
  }

  /** What the end of a connection asks for, before the next is made. */
  const follow = async ({ next, why, delayMs = 0, offline }: Ending, stood: boolean) => {
    if (next === 'identify') session = null
    if (next === 'refused') {
      deps.tell({ state: 'down', detail: why })
      log.warn({ why }, 'Discord refuses the connection')
      session = null
      if (why.startsWith('4011')) deps.reshard()
      return wait(timings.refusedMs)
    }
    // Only one that lasted makes good what failed before it: one that ends again at once is waited for, longer each time.
    failures = stood && clock.now() - stoodAt >= timings.steadyMs ? 1 : failures + 1
    if (!stood && next === 'resume' && session !== null && offline !== true) {
      refusals += 1
      if (refusals >= MOST_REFUSALS) {
        log.warn({ why }, 'the session was refused again and again: a new one is begun')
        session = null
        refusals = 0
      }
    }
    if (failures === 1) log.info({ cause: why }, 'the next connection to Discord')
    if (current === null) deps.tell({ state: failures > 2 ? 'down' : 'connecting', detail: why })
    const range = { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }
    // The first after one that lasted is made at once.
    const backoff = failures === 1 ? 0 : backoffMs(failures - 1, range, deps.random)
    if (delayMs > 0 || backoff > 0) await wait(Math.max(delayMs, backoff))
  }

  const round = async () => {
    try {
      const ending = await connect()
      if (!stopped) await follow(ending, true)
    } catch (thrown) {
      if (stopped) return
      if (thrown instanceof GatewayEnded) return follow(thrown.ending, false)
      const error = asSwitchboardError(thrown, 'platform_unavailable')
      const isToken = /^(401|40001|50014):/.test(error.message)
      const waitMs = isToken
        ? timings.refusedMs
        : error.code === 'rate_limited'
          ? (error.retryAfterMs ?? 0)
          : 0
      if (isToken && failures > 2) return follow({ ...endingOf(4004), why: error.message }, false)
      const delayMs = Math.min(waitMs, timings.refusedMs)
      return follow({ next: 'resume', why: error.message, delayMs, offline: true }, false)
    }
  }
  void (async () => {
    while (!stopped) await round()
  })()

  return {
    session: () => session,
    renew(cause) {
      log.info({ cause }, 'a new connection to Discord was asked for')
      // The session may be what is deaf: the next connection has one of its own.
      fresh = true
      reconnect({ next: 'resume', why: cause })
      wake()
    },
    again(which, cause) {
      if (current?.session === which) current.close(cause)
      // It is just being resumed: what is replayed before it stands counts as much.
      else if (session === which) giveUp()
    },
    async probe() {
      if (current === null) throw new SwitchboardError('platform_unavailable', 'there is no connection')
      return (await current.probe()) ? 'hears' : 'deaf'
    },
    stop() {
      stopped = true
      current?.close('stopped')
      current = null
      giveUp()
      reconnect(STOPPED)
      wake()
    },
  }
}
