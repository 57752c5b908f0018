// The gateway as a whole: as many shards as Discord recommends, each with its link, under the lease of the integration.
// It also schedules when each may identify, because Discord revokes the token of a bot that does so too often.
import {
  type Clock,
  createSerialLines,
  type LinkLease,
  type Logger,
  type Random,
  SwitchboardError,
} from '../../../contract/index.ts'
import {
  type Link,
  type LinkAttempt,
  type LinkEnding,
  type LinkState,
  startLink,
} from '../../../kit/index.ts'
import type { DiscordClient } from '../api/client.ts'
import { isStatus } from '../api/refusals.ts'
import type { DiscordConfig, Timings } from '../config.ts'
import { isGatewayUrl } from '../verify.ts'
import type { Dispatch, Session } from './gateway-socket.ts'
import { type ShardLink, startShardLink } from './shard-link.ts'

/** Servers, messages and reactions there and in direct chats. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 10) | (1 << 12) | (1 << 13)
const MESSAGE_CONTENT = 1 << 15
const MOST_SHARDS = 64
/** This many of the day's new sessions are reserved for starts by the operator. */
const RESERVE = 5

function intentsOf({ options }: Pick<DiscordConfig, 'options'>): number {
  return options.message_content ? INTENTS | MESSAGE_CONTENT : INTENTS
}

export interface GatewayDeps {
  readonly client: DiscordClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly lease?: LinkLease | undefined
  readonly tell: (link: LinkState) => void
  /** A session is ready, new or resumed. */
  readonly connected: () => void
  readonly dispatch: (dispatch: Dispatch) => void
}

export interface Gateway extends Link {
  /** The sessions of all shards, in order. */
  sessions(): readonly (Session | null)[]
  /** Events of this session could not be stored. */
  again(session: Session, cause: string): void
}

interface GatewayInfo {
  readonly url: string
  readonly shards: number
  readonly remaining: number
  readonly resetAfterMs: number
  readonly concurrency: number
}

export function startGateway(
  config: DiscordConfig,
  timings: Timings,
  deps: GatewayDeps & { readonly sessions: readonly (Session | null)[] },
): Gateway {
  const { client, clock, random, log } = deps
  let links: readonly ShardLink[] = []
  let states: LinkState[] = []
  let kept = deps.sessions
  let info: GatewayInfo | null = null
  const identifiedAt = new Map<number, number>()
  /** The queue of each bucket for identifying. */
  const rows = createSerialLines<number>()

  const askInfo = async (): Promise<GatewayInfo> => {
    const answer = await client.call('GET', '/gateway/bot', { repeatable: true }).catch((thrown: unknown) => {
      // Compatible servers may have only the plain route.
      if (!isStatus(thrown, 404, 405, 501)) throw thrown
      return client.call('GET', '/gateway', { repeatable: true })
    })
    const limit = (answer.session_start_limit ?? {}) as Readonly<Record<string, unknown>>
    const number = (value: unknown, otherwise: number) =>
      typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : otherwise
    info = {
      url: typeof answer.url === 'string' ? answer.url : '',
      shards: Math.min(MOST_SHARDS, Math.max(1, Math.floor(number(answer.shards, 1)))),
      remaining: number(limit.remaining, RESERVE + 1),
      resetAfterMs: number(limit.reset_after, 0),
      concurrency: Math.max(1, Math.floor(number(limit.max_concurrency, 1))),
    }
    return info
  }

  /** One at a time for each bucket. A shard that left meanwhile takes no place. */
  const mayIdentify = async (shard: number, isWanted: () => boolean): Promise<void> => {
    const bucket = shard % (info ?? (await askInfo())).concurrency
    return rows.run(bucket, () => (isWanted() ? identifySoon(shard, bucket, isWanted) : undefined))
  }

  /** Resolves when the pause after the previous one is over. Throws if the day's sessions are used up. */
  const identifySoon = async (shard: number, bucket: number, isWanted: () => boolean): Promise<void> => {
    const { remaining, resetAfterMs } = await askInfo()
    if (remaining <= RESERVE && resetAfterMs > 0) {
      tellShard(shard, {
        state: 'down',
        detail: 'no new session may be begun today: too many were; something ends them again and again',
      })
      log.warn({ remaining }, 'the day’s new sessions are used up')
      throw new SwitchboardError('rate_limited', 'no new session may be begun')
    }
    const waitMs = (identifiedAt.get(bucket) ?? Number.NEGATIVE_INFINITY) + timings.identifyMs - clock.now()
    // A clock that was set back does not lengthen the wait.
    if (waitMs > 0)
      await new Promise<void>((resolve) => void clock.after(Math.min(waitMs, timings.identifyMs), resolve))
    if (isWanted()) identifiedAt.set(bucket, clock.now())
  }

  const tellShard = (shard: number, state: LinkState) => {
    states[shard] = state
    const worst = ['down', 'connecting', 'waiting'] as const
    const down = worst.flatMap((name) => states.filter((one) => one.state === name)).at(0)
    const behind =
      states.length > 1
        ? `${states.filter((one) => one.state !== 'up').length} of ${states.length} shards: `
        : ''
    if (down !== undefined) return deps.tell({ ...down, detail: `${behind}${down.detail ?? down.state}` })
    const since = Math.max(...states.map((one) => one.since ?? 0))
    deps.tell({ state: 'up', since })
  }

  /** Runs until the lease is lost or another number of shards is needed. */
  const connect = async ({ signal }: LinkAttempt): Promise<LinkEnding> => {
    const { shards } = info?.shards === kept.length ? info : await askInfo()
    signal.throwIfAborted()
    const before = kept.length === shards ? kept : Array.from({ length: shards }, () => null)
    states = Array.from({ length: shards }, () => ({ state: 'connecting' as const }))
    const why = await new Promise<string>((resolve) => {
      signal.addEventListener('abort', () => resolve('stopped'))
      links = before.map((session, shard) =>
        startShardLink(
          { shard: [shard, shards], token: config.token, intents: intentsOf(config), session },
          {
            ...{ clock, log, timings, random },
            tell: (state) => tellShard(shard, state),
            gatewayUrl: async () => (info ?? (await askInfo())).url,
            isGateway: (url) => isGatewayUrl(url, config),
            mayIdentify: (isWanted) => mayIdentify(shard, isWanted),
            connected: deps.connected,
            dispatch: deps.dispatch,
            reshard: () => resolve('another number of shards is needed'),
          },
        ),
      )
    })
    kept = sessions()
    const leaving = links
    links = []
    info = null
    await Promise.all(leaving.map((link) => link.stop()))
    return { why }
  }
  const sessions = () => (links.length === 0 ? kept : links.map((link) => link.session()))

  // The shards report when they are up. This link only holds the lease for them.
  const whole = startLink({
    ...{ clock, random, log, connect },
    lease: deps.lease,
    report: deps.tell,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    refusedMs: timings.refusedMs,
    connectMs: null,
    words: { failed: 'no connection to Discord' },
  })

  return {
    sessions,
    renew(cause) {
      for (const link of links) link.renew(cause)
      if (links.length === 0) whole.renew(cause)
    },
    again(session, cause) {
      for (const link of links) link.again(session, cause)
    },
    async probe() {
      if (links.length === 0) throw new SwitchboardError('platform_unavailable', 'there is no connection')
      const heard = await Promise.all(links.map((link) => link.probe()))
      return heard.every((one) => one === 'hears') ? 'hears' : 'deaf'
    },
    stop: () => whole.stop(),
  }
}
