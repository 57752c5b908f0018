// After a start nothing is known about agents, but their turns record how the last tries ended. An agent whose turns
// wait for an answer is in trouble from the start. People who wait are informed on time.
import type { AgentTrouble, Clock, Logger, Store, TurnRow } from '../../../contract/index.ts'
import type { AgentPost, Roster } from '../../roster.ts'
import type { OfflineNotices } from './offline-notices.ts'
import type { Reachability } from './reachability.ts'

export interface RecallTroubleDeps {
  readonly store: Pick<Store, 'turns'>
  readonly clock: Clock
  readonly log: Logger
  readonly roster: Pick<Roster, 'get' | 'onAttached'>
  readonly reachability: Pick<Reachability, 'recall' | 'isRecalled'>
  readonly offline: Pick<OfflineNotices, 'tell'>
  readonly stopped: () => boolean
}

/** The oldest turns, enough to find one that was tried. */
const LOOKED_AT = 200
/** The turn that recorded the trouble may end without a try, or at another node. */
const LOOK_AGAIN_MS = 30_000

const STATE_OF: Readonly<Partial<Record<string, AgentTrouble['state']>>> = {
  agent_unreachable: 'unreachable',
  agent_failed: 'failing',
}
const DETAIL = {
  unreachable: 'it could not be reached before this start, and has not been reached since',
  failing: 'it did not take a message before this start, and has not taken it since',
} as const

export function recallTrouble(deps: RecallTroubleDeps): void {
  const { store, clock, log, roster, reachability, offline } = deps
  const looked = new WeakSet<AgentPost>()

  const look = async (agent: string) => {
    const rows = await store.turns({ agent, states: ['queued'], oldestFirst: true, limit: LOOKED_AT })
    if (deps.stopped()) return
    const waiting = rows.filter(({ reason }) => STATE_OF[reason ?? ''] !== undefined)
    reachability.recall(agent, troubleOf(waiting))
    if (!reachability.isRecalled(agent)) return
    const oldest = new Map<string, number>()
    for (const { session, receivedAt } of waiting)
      if (session !== null && !oldest.has(session)) oldest.set(session, receivedAt)
    for (const [session, since] of oldest) offline.tell(session, agent, since)
    clock.after(LOOK_AGAIN_MS, () => {
      if (!deps.stopped() && reachability.isRecalled(agent)) lookSoon(agent)
    })
  }

  const lookSoon = (agent: string) =>
    void look(agent).catch((thrown) =>
      log.warn(
        { agent, error: String(thrown) },
        'whether turns wait for an agent that fails is not known yet',
      ),
    )

  roster.onAttached((agent) => {
    const post = roster.get(agent)
    if (!post || looked.has(post) || deps.stopped()) return
    looked.add(post)
    lookSoon(agent)
  })
}

/** The trouble began no earlier than the oldest of these turns. */
function troubleOf(waiting: readonly TurnRow[]): AgentTrouble | null {
  const [first] = waiting
  const state = STATE_OF[first?.reason ?? '']
  return first && state ? { state, detail: DETAIL[state], since: first.receivedAt } : null
}
