// Socket Mode without a gap: learn who we are → request a URL → connect → hello. When Slack asks a connection to leave,
// or a new one is requested, the old one stays until the next says hello. Then it delivers its last envelopes and
// closes.
import {
  type Clock,
  defined,
  type LinkLease,
  type Logger,
  type Random,
  SwitchboardError,
} from '../../../contract/index.ts'
import { type Link, type LinkEnding, type LinkState, startLink } from '../../../kit/index.ts'
import { isSlackHost, type SlackClient } from '../api/client.ts'
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

/** Slack replaces its connections now and then, and says so with these reasons. */
const ROUTINE: ReadonlySet<string> = new Set(['warning', 'refresh_requested'])

export function startSocketLink(config: SlackConfig, timings: Timings, deps: SocketLinkDeps): Link {
  const { client, clock, random, log, lease, connected } = deps
  let open = 0

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

  /** Other programs with the app's token share its events, and it is unknown which get which. */
  const rivals = ({ connections }: SlackSocket): string | undefined => {
    const others = connections === null ? 0 : connections - open
    if (others <= 0) return undefined
    log.warn({ others }, 'other connections of this app take a part of its events')
    return `${others} other connection${others === 1 ? '' : 's'} of this app take a part of its events: stop the other program, or give each its own app`
  }

  return startLink({
    ...{ clock, random, log, lease, connected },
    report: deps.tell,
    overlaps: true,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    refusedMs: timings.refusedMs,
    probeEveryMs: timings.pingMs,
    probeMs: timings.pingMs,
    words: { failed: 'no connection to Slack' },
    async connect({ signal, up, replace }) {
      let refused: LinkEnding | null = null
      let socket: SlackSocket | null = null
      try {
        await deps.self()
        socket = await openSocket(
          await url(),
          {
            envelope: deps.take,
            disconnect(reason) {
              if (ROUTINE.has(reason)) return replace({ why: reason })
              refused = endingOf(reason, timings)
              socket?.drain()
            },
            unreadable: () => log.warn({}, 'a frame of Slack could not be read'),
          },
          { clock, timings, signal },
        )
      } catch (thrown) {
        if (refused !== null) return refused
        throw thrown
      }
      open += 1
      try {
        // It may end in the moment of its hello.
        if (socket.isOpen())
          up({ probe: socket.probe, leave: socket.drain, ...defined({ detail: rivals(socket) }) })
        const why = await socket.closed
        return refused ?? { why }
      } finally {
        open -= 1
      }
    },
  })
}

function endingOf(reason: string, { refusedMs }: Timings): LinkEnding {
  switch (reason) {
    case 'link_disabled':
      return {
        why: 'link_disabled: Socket Mode is switched off for this app; switch it on at api.slack.com/apps, Socket Mode',
        down: true,
        waitMs: refusedMs,
      }
    case 'too_many_websockets':
      return {
        why: 'too_many_websockets: ten connections of this app are open already; stop the other programs that use its token',
        down: true,
      }
    default:
      return { why: `Slack ended the connection: ${reason}`, down: true }
  }
}

function isSocketUrl(url: string, config: SlackConfig): boolean {
  if (!URL.canParse(url)) return false
  const { protocol } = new URL(url)
  if (config.ownServer) return protocol === 'ws:' || protocol === 'wss:'
  return protocol === 'wss:' && isSlackHost(url.replace(/^wss:/, 'https:'), config)
}
