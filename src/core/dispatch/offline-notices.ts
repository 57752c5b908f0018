// Who writes to an agent that is not there is told so, once per outage, after a moment of grace: most outages are short.
import type { Clock, Logger, Store } from '../../contract/index.ts'
import { notice, offlineText } from '../notices.ts'
import { noticeTarget } from './notice-target.ts'
import type { Roster } from './roster.ts'

export interface OfflineNoticesDeps {
  readonly store: Pick<Store, 'turns' | 'enqueue' | 'findWork'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Roster
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
const WAITING_TOLD = 500

export function createOfflineNotices(deps: OfflineNoticesDeps): OfflineNotices {
  const { store, clock, log, roster } = deps

  const tell = (lane: string, agent: string) => {
    const post = roster.get(agent)
    if (!post || post.attached || post.outageSince === null) return
    const outage = post.outageSince
    clock.after(GRACE_MS, () => {
      if (deps.stopped() || post.attached || post.outageSince !== outage) return
      send(lane, agent, outage).catch((thrown) => log.warn({ error: String(thrown) }, 'no offline notice'))
    })
  }

  const send = async (lane: string, agent: string, outage: number) => {
    const [row] = await store.turns({ session: lane, states: ['queued'], oldestFirst: true, limit: 1 })
    if (!row || !deps.canSpeak(row.integration)) return
    await store.enqueue([notice(noticeTarget(row), offlineText(agent), `offline:${agent}:${outage}:${lane}`)])
  }

  return {
    tell,
    async tellWaiting(agent) {
      const waiting = await store.findWork('turns', [agent], { limit: WAITING_TOLD })
      for (const { lane } of waiting) tell(lane, agent)
    },
  }
}
