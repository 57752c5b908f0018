// Who writes to an agent that is not there is told so, once per outage, after a moment of grace: most outages are short.
import {
  type Clock,
  defined,
  type Logger,
  type NewSend,
  type Store,
  type Work,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { notice, offlineText } from '../notices.ts'
import { noticeTarget } from './notice-target.ts'
import type { Roster } from './roster.ts'

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
  /** Something waits in this lane. */
  tell(lane: string, agent: string): void
  /** The agent went away: whoever still waits for it is told, as those are who write now. */
  tellWaiting(agent: string): Promise<void>
}

const GRACE_MS = 5_000
// One node tells; the others look again when it must be done. Nodes that write the same keys at once wait for each other.
const STAND_BY_MS = 3_000
const PAGE = 500
const LANES_REMEMBERED = 50_000

export function createOfflineNotices(deps: OfflineNoticesDeps): OfflineNotices {
  const { store, clock, log, roster, cluster } = deps
  /** Lanes that were told, or will be when the grace is over: every further message costs nothing. */
  const told = new Map<string, { outage: number; lanes: Set<string> }>()

  const isFirst = (lane: string, agent: string, outage: number): boolean => {
    let of = told.get(agent)
    if (of?.outage !== outage || of.lanes.size >= LANES_REMEMBERED) {
      of = { outage, lanes: new Set() }
      told.set(agent, of)
    }
    if (of.lanes.has(lane)) return false
    of.lanes.add(lane)
    return true
  }

  const tell = (lane: string, agent: string) => {
    const outage = roster.get(agent) ? cluster.outageOf(agent) : null
    if (outage === null || !isFirst(lane, agent, outage)) return
    clock.after(GRACE_MS + (cluster.isFirst(lane) ? 0 : STAND_BY_MS), () => {
      if (deps.stopped() || cluster.outageOf(agent) !== outage) return
      send(lane, agent, outage)
        .catch((thrown) => {
          log.warn({ error: String(thrown) }, 'no offline notice')
          return false
        })
        .then((done) => done || told.get(agent)?.lanes.delete(lane))
    })
  }

  /** False: nobody was told, and the next message may try again. */
  const send = async (lane: string, agent: string, outage: number): Promise<boolean> => {
    const [row] = await store.turns({ session: lane, states: ['queued'], oldestFirst: true, limit: 1 })
    if (!row) return false
    if (!deps.canSpeak(row.integration)) return true
    await deps.say([notice(noticeTarget(row), offlineText(agent), `offline:${agent}:${outage}:${lane}`)])
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
        // Between two pages the process takes what came meanwhile.
        await new Promise<void>((resolve) => clock.after(0, resolve))
      }
    },
  }
}
