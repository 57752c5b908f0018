// Socket Mode without a gap. One loop: (hold the lease) → learn who we are → ask for a URL → connect → hello. From then on
// the new connection is the link, and one that stood before it is left after what it still brings. The loop goes round
// again when the connection ends, when Slack tells it to go (the old one stays until the next says hello), and when
// somebody asks for a new one. Every failure is waited out and told; none ends the loop.
import {
  asSwitchboardError,
  type Clock,
  LEASE_RENEW_MS,
  type LinkLease,
  type Logger,
  type Random,
  SwitchboardError,
} from '../../../contract/index.ts'
import { backoffMs, createLeasedLink, type LinkState } from '../../../kit/index.ts'
import { isSlackHost, type SlackClient } from '../api/client.ts'
import { isRefusal } from '../api/refusals.ts'
import type { Self } from '../api/self.ts'
import type { SlackConfig, Timings } from '../config.ts'
import { type Envelope, openSocket, type SlackSocket } from './socket.ts'

export interface SocketLinkDeps {
  readonly client: SlackClient
  readonly self: () => Promise<Self>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly lease?: LinkLease | undefined
  readonly tell: (link: LinkState) => void
  /** A connection said hello. */
  readonly connected: () => void
  readonly take: (envelope: Envelope) => Promise<object | undefined>
}

export interface SocketLink {
  renew(cause: string): void
  probe(): Promise<'hears' | 'deaf'>
  stop(): Promise<void>
}

type Next = { readonly why: string; readonly delayMs: number }

/** What Slack's reasons ask for: routine ones are followed at once. */
const ROUTINE: ReadonlySet<string> = new Set(['warning', 'refresh_requested'])

export function startSocketLink(config: SlackConfig, timings: Timings, deps: SocketLinkDeps): SocketLink {
  const { client, clock, log } = deps
  /** All that are open: the link, and those that are being left. */
  const open = new Set<SlackSocket>()
  let current: SlackSocket | null = null
  let stopped = false
  let failures = 0
  let wake: () => void = () => undefined
  let reconnect: (next: Next) => void = () => undefined

  const wait = (ms: number) =>
    new Promise<void>((resolve) => {
      if (stopped) return resolve()
      const cancel = clock.after(ms, resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })

  const url = async (): Promise<string> => {
    const { answer } = await client.call(
      'apps.connections.open',
      {},
      { as: 'app', repeatable: true, timeoutMs: timings.helloMs },
    )
    if (typeof answer.url === 'string' && isSocketUrl(answer.url, config)) return answer.url
    throw new SwitchboardError(
      'platform_unavailable',
      'Slack: apps.connections.open gave no address of Slack’s',
    )
  }

  /** Connects, and resolves with what makes the next connection necessary. The old one is left once this one stands. */
  const connect = async (): Promise<Next> => {
    await deps.self()
    let mine: SlackSocket | null = null
    let over = null as string | null
    const ending = new Promise<Next>((resolve) => {
      reconnect = resolve
    })
    const reconnectMine = reconnect
    const opened = await openSocket(
      await url(),
      {
        envelope: deps.take,
        disconnect: (reason) => reconnectMine(afterDisconnect(reason)),
        closed(why) {
          over = why
          if (mine === null) return
          open.delete(mine)
          if (current === mine) current = null
          reconnectMine({ why, delayMs: 0 })
        },
        unreadable: () => log.warn({}, 'a frame of Slack could not be read'),
      },
      { clock, timings },
    )
    mine = opened
    // It can end in the very moment of its hello, before anybody holds it.
    if (over !== null) throw new SwitchboardError('platform_unavailable', `Socket Mode: ${over}`)
    if (stopped || lease.isLost()) {
      opened.close()
      return { why: 'stopped', delayMs: 0 }
    }
    const before = current
    current = opened
    open.add(opened)
    before?.drain(timings.drainMs)
    if (failures > 0) log.info({}, 'connected again')
    failures = 0
    deps.tell({ state: 'up', since: clock.now(), ...rivals(opened) })
    deps.connected()
    return ending
  }

  const afterDisconnect = (reason: string): Next => {
    if (ROUTINE.has(reason)) return { why: reason, delayMs: 0 }
    failures += 1
    deps.tell({ state: 'down', detail: disconnectDetail(reason) })
    log.warn({ reason }, 'Slack ended the connection')
    if (reason === 'link_disabled') return { why: reason, delayMs: timings.refusedMs }
    return {
      why: reason,
      delayMs: backoffMs(failures, { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }, deps.random),
    }
  }

  /** Others that have the app's token share its events: nobody can tell which get which. */
  const rivals = ({ connections }: SlackSocket): { readonly detail?: string } => {
    const others = connections === null ? 0 : connections - open.size
    if (others <= 0) return {}
    log.warn({ others }, 'other connections of this app take a part of its events')
    return {
      detail: `${others} other connection${others === 1 ? '' : 's'} of this app take a part of its events: stop the other program, or give each its own app`,
    }
  }

  const failed = async (thrown: unknown) => {
    if (stopped || lease.isLost()) return
    const error = asSwitchboardError(thrown, 'platform_unavailable')
    failures += 1
    const reason = /^Socket Mode: ([a-z_]+)$/.exec(error.message)?.[1]
    const detail = reason === undefined ? error.message : disconnectDetail(reason)
    // One that is being left still brings what comes.
    if (current === null) deps.tell({ state: failures > 1 ? 'down' : 'connecting', detail })
    if (failures === 1) log.warn({ problem: error.message }, 'no connection to Slack')
    const range = { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs }
    const refused =
      reason === 'link_disabled' ||
      (isRefusal(
        thrown,
        'invalid_auth',
        'token_revoked',
        'account_inactive',
        'not_authed',
        'not_allowed_token_type',
      ) &&
        failures > 3)
    return wait(
      refused
        ? timings.refusedMs
        : Math.max(
            error.code === 'rate_limited' ? (error.retryAfterMs ?? 0) : 0,
            backoffMs(failures, range, deps.random),
          ),
    )
  }

  const round = async () => {
    if (!(await lease.mayConnect(failures))) return wait(LEASE_RENEW_MS)
    const next = await connect()
    if (stopped) return
    log.info({ cause: next.why }, 'the next connection to Slack')
    if (current === null && next.delayMs === 0) deps.tell({ state: 'connecting', detail: next.why })
    if (next.delayMs > 0) await wait(next.delayMs)
  }

  const closeAll = () => {
    for (const socket of [...open]) socket.close()
    open.clear()
    current = null
  }

  const lease = createLeasedLink(deps.lease, {
    ...{ clock, tell: deps.tell },
    words: {
      lost: 'the lease of its connection was lost',
      elsewhere: 'another node is connected for this integration',
      unknown: 'the store does not say which node is connected',
    },
    onLost() {
      closeAll()
      reconnect({ why: 'the lease was lost', delayMs: 0 })
    },
  })

  const loop = async () => {
    while (!stopped) await round().catch(failed)
  }
  const running = loop()

  return {
    renew(cause) {
      log.info({ cause }, 'a new connection to Slack was asked for')
      reconnect({ why: cause, delayMs: 0 })
      wake()
    },
    async probe() {
      if (current === null) throw new SwitchboardError('platform_unavailable', 'there is no connection')
      return (await current.probe()) ? 'hears' : 'deaf'
    },
    async stop() {
      stopped = true
      closeAll()
      reconnect({ why: 'stopped', delayMs: 0 })
      wake()
      await running
      await lease.release()
    },
  }
}

function disconnectDetail(reason: string): string {
  switch (reason) {
    case 'link_disabled':
      return 'link_disabled: Socket Mode is switched off for this app; switch it on at api.slack.com/apps, Socket Mode'
    case 'too_many_websockets':
      return 'too_many_websockets: ten connections of this app are open already; stop the other programs that use its token'
    default:
      return `Slack ended the connection: ${reason}`
  }
}

function isSocketUrl(url: string, config: SlackConfig): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  if (config.ownServer) return protocol === 'ws:' || protocol === 'wss:'
  return protocol === 'wss:' && isSlackHost(url.replace(/^wss:/, 'https:'), config)
}
