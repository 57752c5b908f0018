// Tells a person that the agent is offline or unreachable, and that the message is kept. It does so once per
// conversation and outage. A grace period comes first, because most outages are short.
import {
  type Clock,
  defined,
  type Logger,
  type NewSend,
  type Store,
  type Work,
} from '../../../contract/index.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import { notice, noticeTarget } from '../../notices.ts'
import type { Roster } from '../../roster.ts'

export interface OfflineNoticesDeps {
  readonly store: Pick<Store, 'turns' | 'findWork'>
  readonly say: (sends: readonly NewSend[]) => Promise<unknown>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Pick<Roster, 'get'>
  readonly cluster: Pick<Cluster, 'outageOf' | 'isFirst'>
  readonly canSpeak: (integration: string) => boolean
  readonly stopped: () => boolean
}

export interface OfflineNotices {
  /** Called when a message waits in this lane. `since`: it has waited since before this start. */
  tell(lane: string, agent: string, since?: number): void
  /** Called when the agent leaves. Sends notices to every lane that still waits for it. */
  tellWaiting(agent: string): Promise<void>
}

const OFFLINE_GRACE_MS = 5_000
const UNREACHABLE_GRACE_MS = 20_000
// One node sends the notice; the others check again later. Nodes that write the same keys at once would wait for each
// other.
const STAND_BY_MS = 3_000
const PAGE = 500
const LANES_REMEMBERED = 50_000

interface Outage {
  /** The agent is attached but takes no turns: requests do not reach it, or it defers them. */
  readonly unreachable: boolean
  readonly since: number
}

export function createOfflineNotices(deps: OfflineNoticesDeps): OfflineNotices {
  const { store, clock, log, roster, cluster } = deps
  /** Lanes with a notice sent or scheduled. Further messages in them cost nothing. */
  const told = new Map<string, { outage: Outage; lanes: Set<string> }>()

  const outageOf = (agent: string): Outage | null => {
    const post = roster.get(agent)
    const since = post ? cluster.outageOf(agent) : null
    if (since !== null) return { unreachable: false, since }
    return post?.trouble && post.trouble.past === undefined
      ? { unreachable: true, since: post.trouble.since }
      : null
  }

  const isFirst = (lane: string, agent: string, outage: Outage): boolean => {
    let of = told.get(agent)
    if (!of || !isSame(of.outage, outage) || of.lanes.size >= LANES_REMEMBERED) {
      of = { outage, lanes: new Set() }
      told.set(agent, of)
    }
    if (of.lanes.has(lane)) return false
    of.lanes.add(lane)
    return true
  }

  const tell: OfflineNotices['tell'] = (lane, agent, waitsSince) => {
    const outage = outageOf(agent)
    if (outage === null || !isFirst(lane, agent, outage)) return
    const waitedMs = waitsSince === undefined ? 0 : Math.max(0, clock.now() - waitsSince)
    // The first attempt after a start may succeed.
    const unreachableMs = Math.max(OFFLINE_GRACE_MS, UNREACHABLE_GRACE_MS - waitedMs)
    const graceMs = outage.unreachable ? unreachableMs : OFFLINE_GRACE_MS
    clock.after(graceMs + (outage.unreachable || cluster.isFirst(lane) ? 0 : STAND_BY_MS), () => {
      const now = outageOf(agent)
      if (deps.stopped() || now === null || !isSame(now, outage)) return
      send(lane, agent, outage)
        .catch((thrown) => {
          log.warn({ error: String(thrown) }, 'no offline notice')
          return false
        })
        .then((done) => done || told.get(agent)?.lanes.delete(lane))
    })
  }

  /** False: no notice was sent, and the next message may try again. */
  const send = async (lane: string, agent: string, { unreachable, since }: Outage): Promise<boolean> => {
    // A turn is `handed` while it is being tried.
    const states = unreachable ? (['queued', 'handed'] as const) : (['queued'] as const)
    const [row] = await store.turns({ session: lane, states, oldestFirst: true, limit: 1 })
    if (!row) return false
    if (!deps.canSpeak(row.integration)) return true
    // The key contains the turn, so a restart during an outage sends no second notice.
    const words = unreachable
      ? notice(noticeTarget(row), (words) => words.notices.unreachable({ agent }), `unreachable:${row.id}`)
      : notice(
          noticeTarget(row),
          (words) => words.notices.offline({ agent }),
          `offline:${agent}:${since}:${lane}`,
        )
    await deps.say([words])
    return true
  }

  return {
    tell,
    async tellWaiting(agent) {
      for (let after: string | undefined; ; ) {
        const from = defined({ after })
        const page: readonly Work[] = await store.findWork('turns', [agent], { limit: PAGE, ...from })
        for (const { lane } of page) tell(lane, agent)
        after = page.at(-1)?.lane
        if (page.length < PAGE || deps.stopped()) return
        // Between two pages the process handles other work.
        await new Promise<void>((resolve) => clock.after(0, resolve))
      }
    },
  }
}

function isSame(one: Outage, other: Outage): boolean {
  return one.unreachable === other.unreachable && one.since === other.since
}
