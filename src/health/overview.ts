// What `status` and `doctor` show alike: each integration's link, times and completeness, each agent's state, and the
// gateway itself. With a daemon it comes from the pipeline and the store, without one from the store alone.
import {
  type ChannelServers,
  type Clock,
  iso,
  isoOrNull,
  type NodeRow,
  type ScheduleView,
  type ServerFacts,
  type ServerView,
  type Settings,
  type StatusReport,
  type Store,
  withoutNulls,
} from '../contract/index.ts'
import { completenessView } from '../gateway/completeness-view.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { linkStateOf } from '../gateway/link-reports.ts'
import { nextRun } from '../gateway/next-run.ts'
import { wordsIn } from '../words/index.ts'
import { type AgentStanding, agentStanding, latestBoots, linkAnywhere, nodeViews } from './cluster-view.ts'

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

/** The most schedules that are listed. All of them are in the configuration. */
const MOST_SCHEDULES = 200

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
      if (!gateway || !problems) return { link: 'down', detail: wordsIn().gates.noDaemon }
      return linkAnywhere(linkStateOf(gateway.links, problems, id, enabled), id, others)
    },
    timesOf(id: string) {
      const link = gateway?.links.get(id)
      const latest = (time: 'lastInAt' | 'lastOutAt') => {
        const times = [link?.[time], ...others.map(({ activity }) => activity[id]?.[time])]
        const known = times.filter((at): at is number => typeof at === 'number')
        return known.length === 0 ? null : iso(Math.max(...known))
      }
      return { last_in_at: latest('lastInAt'), last_out_at: latest('lastOutAt') }
    },
    completeOf(id: string): StatusReport['integrations'][number]['complete'] {
      const keepsHistory = gateway?.links.get(id)?.adapter.history !== undefined
      return completenessView(id, keepsHistory, { rows, restored, now })
    },
    agentOf: (id: string): AgentStanding =>
      gateway ? agentStanding(id, gateway, others) : { attached: false, state: 'absent' },
  }
}

function countsByAgent(counts: readonly { readonly agent: string; readonly count: number }[]) {
  return new Map(counts.map(({ agent, count }) => [agent, count]))
}

/** Returns each channel server once, however many agents use it; nothing where none is hosted. */
export function serverViews(pool: ChannelServers | undefined): { readonly servers?: readonly ServerView[] } {
  const servers = pool?.all() ?? []
  return servers.length === 0 ? {} : { servers: servers.map((server) => viewOf(server.facts())) }
}

function viewOf(facts: ServerFacts): ServerView {
  return {
    name: facts.name,
    transport: facts.transport,
    state: facts.state,
    ...withoutNulls({ detail: facts.detail }),
    connected_at: isoOrNull(facts.connectedAt),
    restarts: facts.restarts,
    noise: facts.noise,
    program: facts.program === null ? null : `${facts.program.name} ${facts.program.version}`,
    prefix: facts.prefix,
    permission_relay: facts.permissionRelay,
    plugin_source: facts.stamp.source,
    verified: facts.stamp.verified,
  }
}

/** Returns the next run from the cron expression and the last one from its row; nothing where there are no schedules. */
async function scheduleViews(
  settings: Settings,
  store: Pick<Store, 'firings'>,
  now: number,
): Promise<{ readonly schedules?: readonly ScheduleView[] }> {
  const all = settings.agents.flatMap((agent) =>
    agent.schedules.map((schedule) => ({ agent: agent.id, schedule })),
  )
  if (all.length === 0) return {}
  const schedules: ScheduleView[] = []
  for (const { agent, schedule } of all.slice(0, MOST_SCHEDULES)) {
    const { id, cron, tz, prompt } = schedule
    const rows = await store.firings({ agent, schedule: id, limit: 5 })
    // Other rows are marks of the scheduler, not runs.
    const last = rows.find(({ outcome }) => outcome === 'run' || outcome === 'skipped')
    schedules.push({
      ...{ id, agent, cron, tz, prompt },
      next_at: isoOrNull(nextRun(cron, tz, now)),
      last: last ? { at: new Date(last.fireAt).toISOString(), outcome: last.outcome, turn: last.turn } : null,
    })
  }
  return { schedules }
}
