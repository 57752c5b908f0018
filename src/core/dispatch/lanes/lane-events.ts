// Events that make the dispatcher check its lanes: hints of the store, nodes that leave, agents that come and go, and
// lanes lost to another node.
import type { Logger, Settings, Store } from '../../../contract/index.ts'
import type { Cluster } from '../../cluster/cluster.ts'
import type { Drain } from '../../lanes/drain.ts'
import type { Roster } from '../../roster.ts'
import type { OfflineNotices } from '../agent/offline-notices.ts'
import type { LaneHolds } from './lane-holds.ts'
import type { MovedElsewhere } from './moved-elsewhere.ts'

export interface LaneEventsDeps {
  readonly store: Pick<Store, 'onHint'>
  readonly log: Logger
  readonly settings: () => Settings
  readonly roster: Roster
  readonly cluster: Pick<Cluster, 'isFirst' | 'onGone' | 'reaches' | 'caughtUp'>
  readonly holds: LaneHolds
  readonly drain: Drain
  readonly offline: OfflineNotices
  readonly movedElsewhere: MovedElsewhere
  /** The agent continues a turn when its lane moves to another node. */
  readonly livesOn: (agent: string) => boolean
  readonly stopWork: (agent: string, lane: string, turn: string) => void
  readonly stopped: () => boolean
}

export function listenForLanes(deps: LaneEventsDeps): void {
  const { store, log, roster, holds, drain, offline, movedElsewhere } = deps
  const tellWaiting = (agent: string) =>
    void offline
      .tellWaiting(agent)
      .catch((thrown) => log.warn({ agent, error: String(thrown) }, 'no offline notice'))

  store.onHint((hint, from) => {
    if (deps.stopped()) return
    const isNear = hint.kind === 'turns' && (from === null || deps.cluster.isFirst(hint.lane))
    if (isNear && !roster.reachable().includes(hint.scope)) offline.tell(hint.lane, hint.scope)
    const looks =
      hint.kind === 'missed'
        ? movedElsewhere.lookAtAll()
        : hint.kind === 'turn' && from !== null && movedElsewhere.lookAt(hint.id)
    if (looks) looks.catch((thrown) => log.warn({ error: String(thrown) }, 'a turn could not be looked at'))
  })
  deps.cluster.onGone(() => {
    drain.sweep()
    for (const agent of deps.settings().agents) if (!deps.cluster.reaches(agent.id)) tellWaiting(agent.id)
  })
  roster.onAttached((agent) => drain.sweep(agent))
  roster.onDetached((agent) => {
    if (deps.stopped()) return
    // A lane released during its take would leave turns `handed`, and the next owner would mark them as repeats.
    drain
      .taken()
      .then(() => holds.releaseAgent(agent))
      .then(() => deps.cluster.caughtUp())
      .then(() => (roster.get(agent)?.attached ? drain.sweep(agent) : tellWaiting(agent)))
      .catch((thrown) => log.warn({ agent, error: String(thrown) }, 'lanes are free when their lease ends'))
  })
  holds.onLost((lane, agent, turns) => {
    drain.wake({ lane, scope: agent })
    // The lane's new owner offers the turns again, so work here stops.
    if (deps.livesOn(agent)) return
    for (const turn of turns) deps.stopWork(agent, lane, turn)
  })
}
