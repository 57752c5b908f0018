// One shard without a gap: connect → hello → resume or identify → the session is ready. A session that is refused three
// times is given up. Messages between it and the next one are found in the history.
import { type Logger, SwitchboardError } from '../../../contract/index.ts'
import {
  type Link,
  type LinkAttempt,
  type LinkEnding,
  type LinkState,
  startLink,
} from '../../../kit/index.ts'
import type { Ending } from './close-codes.ts'
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
  /** Returns the address to connect to. Called each time. Throws as the client does. */
  readonly gatewayUrl: () => Promise<string>
  /** Whether an address from Discord may be connected to. */
  readonly isGateway: (url: string) => boolean
  /** Resolves when it may identify. A connection that is no longer wanted takes no place. */
  readonly mayIdentify: (isWanted: () => boolean) => Promise<void>
  readonly connected: () => void
  readonly dispatch: (dispatch: Dispatch) => void
  /** Called when it can continue only with another number of shards. */
  readonly reshard: () => void
}

export interface ShardLink extends Link {
  /** The session of the present connection, or of the last one. */
  session(): Session | null
  /** Events of this session could not be stored, so they are requested again. */
  again(session: Session, cause: string): void
}

const MOST_REFUSALS = 3

export function startShardLink(order: ShardOrder, deps: ShardDeps): ShardLink {
  const { clock, random, log, timings, connected } = deps
  let session = order.session
  let current: GatewaySocket | null = null
  /** Tries since a session was last ready, and how many of them Discord refused to resume. */
  let tries = 0
  let refusals = 0
  let fresh = false
  let giveUp: () => void = () => undefined

  const urlOf = async (resume: Session | null): Promise<string> => {
    // If the address for resuming does not answer, it alternates with the usual one.
    const own = resume?.resumeUrl ?? null
    const base = own !== null && tries % 2 === 0 && deps.isGateway(own) ? own : await deps.gatewayUrl()
    if (!deps.isGateway(base))
      throw new SwitchboardError('platform_unavailable', 'Discord: /gateway/bot gave no address of Discord’s')
    const url = new URL(base)
    url.searchParams.set('v', '10')
    url.searchParams.set('encoding', 'json')
    return url.href
  }

  const connect = async ({ signal, up }: LinkAttempt): Promise<LinkEnding> => {
    const resume = fresh || session?.id === '' ? null : session
    const url = await urlOf(resume)
    tries += 1
    const given = new AbortController()
    giveUp = () => given.abort()
    let socket: GatewaySocket
    try {
      socket = await openSocket(
        {
          ...order,
          url,
          resume,
          mayIdentify: deps.mayIdentify,
          signal: AbortSignal.any([signal, given.signal]),
        },
        { dispatch: deps.dispatch, unreadable: () => log.warn({}, 'a frame of Discord could not be read') },
        deps,
      )
    } catch (thrown) {
      if (thrown instanceof GatewayEnded) return follow(thrown.ending, false)
      throw thrown
    }
    session = socket.session
    fresh = false
    // It may end in the moment in which it becomes ready.
    const stood = socket.isOpen()
    if (stood) {
      current = socket
      refusals = 0
      tries = 0
      up({ probe: socket.probe, leave: () => socket.close('the next one stands') })
    }
    const ending = await socket.closed
    if (current === socket) current = null
    // The session of a connection that was left has ended already.
    return session === socket.session ? follow(ending, stood) : ending
  }

  /** Decides what the end of a connection means for the session. */
  const follow = ({ next, why, delayMs = 0, offline }: Ending, stood: boolean): LinkEnding => {
    if (next !== 'resume') session = null
    if (next === 'refused') {
      log.warn({ why }, 'Discord refuses the connection')
      if (why.startsWith('4011')) deps.reshard()
      return { why, down: true, waitMs: timings.refusedMs }
    }
    if (!stood && next === 'resume' && session !== null && offline !== true) {
      refusals += 1
      if (refusals >= MOST_REFUSALS) {
        log.warn({ why }, 'the session was refused again and again: a new one is begun')
        session = null
        refusals = 0
      }
    }
    return { why, waitMs: delayMs }
  }

  const link = startLink({
    ...{ clock, random, log, connect, connected },
    report: deps.tell,
    overlaps: true,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    refusedMs: timings.refusedMs,
    steadyMs: timings.steadyMs,
    probeMs: timings.probeMs,
    // The last of many shards waits for minutes until it may identify.
    connectMs: null,
    words: { failed: 'no connection to Discord' },
  })

  return {
    ...link,
    session: () => session,
    renew(cause) {
      // The session itself may be deaf, so the next connection gets a new one.
      fresh = true
      link.renew(cause)
    },
    again(which, cause) {
      if (current?.session === which) current.close(cause)
      // It is being resumed. Events that are replayed before it is ready count too.
      else if (session === which) giveUp()
    },
  }
}
