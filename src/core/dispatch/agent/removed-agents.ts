// Ends the turns of agents that are no longer configured, with a notice to their senders. No agent would ever answer
// these turns. It does not end them at once, because configurations are edited in steps and reach nodes one after
// another. The same configuration must be in force at two looks in a row, and no node with a different one may have
// been seen since.
import type { Cancel, Clock, Logger, Settings, Store, TurnRow } from '../../../contract/index.ts'
import type { Approvals } from '../../approvals/approvals.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import { keepDoing } from '../../keep-doing.ts'

export interface RemovedAgentsDeps {
  readonly store: Pick<Store, 'turns' | 'owner'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly cluster: Pick<Cluster, 'nodes'>
  readonly approvals: Pick<Approvals, 'endForRemovedAgents'>
  /** Ends a turn that no agent will take. False: it ended meanwhile. */
  readonly giveUp: (row: TurnRow) => Promise<boolean>
}

const LOOK_MS = 10 * 60_000
const PAGE = 100

/** Checks from now on, until cancelled. */
export function keepEndingRemoved(deps: RemovedAgentsDeps): Cancel {
  const { store, clock, log } = deps
  const agents = () => deps.settings().agents.map(({ id }) => id)
  const inForce = () => JSON.stringify([deps.settings().digest, agents()])
  let before = inForce()

  const isAgreed = () => {
    const { digest } = deps.settings()
    const since = clock.now() - LOOK_MS
    return deps.cluster
      .nodes()
      .every((node) => node.owner === store.owner || node.digest === digest || node.seenAt < since)
  }

  const look = async (stopped: () => boolean) => {
    const now = inForce()
    const stood = now === before
    before = now
    if (!stood || !isAgreed()) return
    await deps.approvals.endForRemovedAgents(agents())
    // Resting turns wait for no agent.
    const stray = { agent: { not: agents() }, resting: false, oldestFirst: true, limit: PAGE } as const
    for (;;) {
      const rows = await store.turns({ ...stray, states: ['queued', 'handed', 'seen'] })
      let ended = 0
      for (const row of rows) if (!stopped() && inForce() === now && (await deps.giveUp(row))) ended += 1
      // If no turn could be ended, the same page would repeat for ever.
      if (rows.length < PAGE || ended === 0 || stopped() || inForce() !== now) return
    }
  }

  return keepDoing(clock, LOOK_MS, look, (thrown) =>
    log.warn({ error: String(thrown) }, 'turns of removed agents could not be ended'),
  )
}
