// `status`: the gateway at a glance. Counts come from the counters, never from counting rows.
import {
  type Clock,
  isoOrNull,
  type NodeRow,
  type Settings,
  type StatusReport,
  type Store,
  withoutNulls,
} from '../contract/index.ts'
import type { Link } from '../core/outbound/links.ts'
import type { Attachments } from '../gateway/access/attached-hosts.ts'
import { completenessView } from '../gateway/completeness-view.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { linkStateOf } from '../gateway/link-reports.ts'
import type { AppLentTools } from '../gateway/service-tools.ts'
import type { Adapters } from '../modules/module-catalog.ts'
import { agentStanding } from './agent-state.ts'
import { latestAt, linkAnywhere, nodeViews } from './cluster-view.ts'
import type { Exposure } from './judge-security.ts'
import { scheduleViews } from './schedule-views.ts'
import { serverViews } from './server-views.ts'
import { totals } from './totals.ts'

/** The daemon's facts about itself. */
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

export interface StatusDeps {
  readonly store: Store
  readonly gateway: Gateway
  readonly clock: Clock
  readonly settings: () => Settings
  readonly standing: () => Standing
  /** Hosts that were refused. Absent: no host can attach. */
  readonly turnedAway?: Attachments['turnedAway'] | undefined
  /** Tool servers of services whose tools could not be listed. */
  readonly leftOut?: AppLentTools['problems'] | undefined
  /** The facts for `doctor --security`. Absent: it is not judged. */
  readonly exposure?: (() => Exposure) | undefined
  /** The adapters' own results. Absent: none. */
  readonly adapters?: Pick<Adapters, 'loadedPlatform' | 'loadedConnector' | 'changed'> | undefined
}

export function createStatus({
  store,
  gateway,
  clock,
  settings,
  standing,
}: StatusDeps): () => Promise<StatusReport> {
  return async () => {
    const now = settings()
    const me = standing()
    const [counters, open, pending, durability, restored, rows, taken] = await Promise.all([
      store.counters(),
      store.queuedTurns(),
      store.pendingApprovals(),
      store.durability(),
      store.restored(),
      store.historyLinks(),
      store.takeovers(),
    ])
    const history = { rows, restored, now: clock.now() }
    const others = gateway.cluster.others()
    const nodes = nodeViews(gateway.cluster.nodes(), clock.now())
    const queuedOf = queuedByAgent(open)
    return {
      ready: me.ready,
      node: me.node,
      version: me.version,
      uptime_ms: clock.now() - me.startedAt,
      instance: { name: me.instance, config: me.configFile, data: me.dataDir },
      integrations: now.integrations.map((one) => {
        const link = gateway.links.get(one.id)
        return {
          id: one.id,
          platform: one.platform,
          ...linkAnywhere(linkState(gateway, one.id, one.enabled), one.id, others),
          ...lastTimes(link, one.id, others),
          complete: completenessView(one.id, link?.adapter.history !== undefined, history),
        }
      }),
      ...serverViews(gateway.servers()),
      agents: now.agents.map((one) => {
        return {
          id: one.id,
          connector: one.connector.type,
          queued: queuedOf.get(one.id) ?? 0,
          ...agentStanding(one.id, gateway, others),
        }
      }),
      ...(await scheduleViews(now, store, clock.now())),
      ...totals(counters),
      approvals: { pending: pending.reduce((total, { count }) => total + count, 0) },
      held: taken.filter(({ state }) => state === 'held').length,
      asked: taken.filter(({ state }) => state === 'asked').length,
      config: { digest: now.digest, file: me.configFile, problem: me.configProblem, warnings: now.warnings },
      ...(nodes.length > 1 ? { nodes } : {}),
      store: {
        kind: durability.kind,
        durability: durability.detail,
        ...withoutNulls({ problem: me.storeProblem }),
      },
    }
  }
}

/** Returns the number of waiting turns by agent. */
export function queuedByAgent(
  queued: Awaited<ReturnType<Store['queuedTurns']>>,
): ReadonlyMap<string, number> {
  return new Map(queued.map(({ agent, count }) => [agent, count]))
}

export function lastTimes(
  link: Link | undefined,
  integration: string,
  others: readonly NodeRow[],
): { last_in_at: string | null; last_out_at: string | null } {
  const elsewhere = others.map((node) => node.activity[integration])
  return {
    last_in_at: isoOrNull(
      latestAt(
        link?.lastInAt,
        elsewhere.map((one) => one?.lastInAt),
      ),
    ),
    last_out_at: isoOrNull(
      latestAt(
        link?.lastOutAt,
        elsewhere.map((one) => one?.lastOutAt),
      ),
    ),
  }
}

/** Returns the state of an integration's link in one word, with the reason. */
export function linkState(gateway: Gateway, id: string, enabled: boolean): { link: string; detail?: string } {
  return linkStateOf(gateway.links, gateway.problems(), id, enabled)
}
