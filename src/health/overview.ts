// What `status` and `doctor` show alike: each integration's link, times and completeness, each agent's state, and the
// gateway itself. With a daemon it comes from the pipeline and the store, without one from the store alone.
import {
  type Clock,
  isoOrNull,
  type NodeRow,
  type Settings,
  type StatusReport,
  type Store,
  withoutNulls,
} from '../contract/index.ts'
import { completenessView } from '../gateway/completeness-view.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { linkStateOf } from '../gateway/link-reports.ts'
import { type AgentStanding, agentStanding } from './agent-state.ts'
import { latestAt, latestBoots, linkAnywhere, nodeViews } from './cluster-view.ts'
import { scheduleViews } from './schedule-views.ts'
import { serverViews } from './server-views.ts'

/** The process's facts about itself. */
export interface Standing {
  readonly ready: boolean
  readonly node: string
  readonly version: string
  readonly startedAt: number
  readonly configFile: string | null
  /** The name of the instance, and its data folder. */
  readonly instance: string
  readonly dataDir: string
  readonly configProblem: string | null
  readonly storeProblem: string | null
}

export interface StatusSource {
  readonly store: Store
  readonly clock: Pick<Clock, 'now'>
  readonly settings: () => Settings
  readonly standing: () => Standing
  /** Absent: no daemon runs. */
  readonly gateway?: Gateway
}

const NO_DAEMON = {
  link: { link: 'down', detail: 'no daemon is running' },
  agent: { attached: false, state: 'absent' } satisfies AgentStanding,
}

export async function readOverview({ store, clock, settings, standing, gateway }: StatusSource) {
  const inForce = settings()
  const now = clock.now()
  const process = standing()
  const [counters, queued, pending, durability, restored, rows, schedules] = await Promise.all([
    store.counters(),
    store.queuedTurns(),
    store.pendingApprovals(),
    store.durability(),
    store.restored(),
    store.historyLinks(),
    scheduleViews(inForce, store, now),
  ])
  // A single reading cannot tell a boot that was just killed from a second daemon of that name.
  const nodeRows = gateway ? gateway.cluster.nodes() : latestBoots(await store.nodes())
  const nodes = nodeViews(nodeRows, now)
  const others: readonly NodeRow[] = gateway?.cluster.others() ?? []
  const problems = gateway?.problems()
  return {
    ...{ now, process, settings: inForce, counters, nodes, nodeRows, ...schedules },
    ...serverViews(gateway?.servers()),
    // Each list is read once, because there may be thousands of agents.
    queuedOf: countsByAgent(queued),
    pendingOf: countsByAgent(pending),
    config: {
      digest: inForce.digest,
      file: process.configFile,
      problem: process.configProblem,
      warnings: inForce.warnings,
    },
    store: {
      kind: durability.kind,
      durability: durability.detail,
      ...withoutNulls({ problem: process.storeProblem }),
    },
    /** The state of an integration's link in one word, with the reason. */
    linkOf(id: string, enabled: boolean): { readonly link: string; readonly detail?: string } {
      if (!gateway || !problems) return NO_DAEMON.link
      return linkAnywhere(linkStateOf(gateway.links, problems, id, enabled), id, others)
    },
    timesOf(id: string) {
      const link = gateway?.links.get(id)
      const latest = (time: 'lastInAt' | 'lastOutAt') =>
        isoOrNull(
          latestAt(
            link?.[time],
            others.map(({ activity }) => activity[id]?.[time]),
          ),
        )
      return { last_in_at: latest('lastInAt'), last_out_at: latest('lastOutAt') }
    },
    completeOf(id: string): StatusReport['integrations'][number]['complete'] {
      const keepsHistory = gateway?.links.get(id)?.adapter.history !== undefined
      return completenessView(id, keepsHistory, { rows, restored, now })
    },
    agentOf: (id: string): AgentStanding => (gateway ? agentStanding(id, gateway, others) : NO_DAEMON.agent),
  }
}

function countsByAgent(counts: readonly { readonly agent: string; readonly count: number }[]) {
  return new Map(counts.map(({ agent, count }) => [agent, count]))
}
