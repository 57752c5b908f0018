// `doctor`: the live path, not just the file. For each integration and binding, it shows every gate with pass or reason
// and the key that changes it. Then it shows last times, drops with reasons, and waiting work.
import { channelIntegrationId } from '../config/channel-integrations.ts'
import {
  type Binding,
  bindingsAt,
  CHANNEL_PLATFORM,
  type Counter,
  type Desk,
  type DoctorReport,
  type IntegrationSettings,
  integrationById,
  iso,
  type ProcessView,
} from '../contract/index.ts'
import { approversOn } from '../core/people/approvers.ts'
import type { Attachments } from '../gateway/access/attached-hosts.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { AppLentTools } from '../gateway/service-tools.ts'
import type { Adapters } from '../modules/module-catalog.ts'
import { clusterFindings } from './cluster-view.ts'
import {
  bindingGates,
  integrationGates,
  NO_STANDING,
  recordedKeys,
  refusals,
  type ServerStanding,
  type Standing,
} from './doctor-gates.ts'
import { ledgerStanding } from './foreign-ledger.ts'
import { healthFacts } from './health-facts.ts'
import { healthFindings, type ReportBeforeHealth } from './health-findings.ts'
import { type Exposure, judgeRunning } from './judge-security.ts'
import { createModuleGates } from './module-gates.ts'
import { readOverview, type StatusSource } from './overview.ts'
import { unseenTurns } from './unseen-turns.ts'

const HOUR_MS = 3_600_000

export interface DoctorDeps extends StatusSource {
  readonly gateway: Gateway
  /** Hosts that were refused. Absent: no host can attach. */
  readonly turnedAway?: Attachments['turnedAway'] | undefined
  /** Tool servers of services whose tools could not be listed. */
  readonly leftOut?: AppLentTools['problems'] | undefined
  /** The facts for `doctor --security`. Absent: it is not judged. */
  readonly exposure?: (() => Exposure) | undefined
  /** The adapters' own results. Absent: none. */
  readonly adapters?: Pick<Adapters, 'loadedPlatform' | 'loadedConnector' | 'changed'> | undefined
}

export function createDoctor(deps: DoctorDeps): Desk['doctor'] {
  const { store, gateway, settings, clock } = deps
  const ofModules = createModuleGates(deps.adapters, settings)
  return async ({ security = false, sendTest = false } = {}) => {
    const now = settings()
    const [overview, refused, ledger, lastAt] = await Promise.all([
      readOverview(deps),
      store.recentRefusals(clock.now() - HOUR_MS),
      ledgerStanding(store),
      store.lastReceived(now.agents.map(({ id }) => id)),
    ])
    const { counters, nodes } = overview
    const { file, ...config } = overview.config
    const recorded = recordedKeys(refused)
    // Each list is read once, because there may be thousands of integrations and agents.
    const countersOf = new Map<string, Counter[]>(now.integrations.map(({ id }) => [id, []]))
    for (const counter of counters) countersOf.get(counter.integration)?.push(counter)
    const between = clusterFindings(nodes, overview.nodeRows)
    const standings = new Map<IntegrationSettings, Standing>()
    const standingOf = (integration: IntegrationSettings): Standing => {
      const known = standings.get(integration)
      if (known) return known
      const standing = {
        paired: gateway.grants.senders(integration.id, 'talk').length,
        approvers: approversOn(now, gateway.grants, integration).length,
        bound: bindingsAt(now, integration.id).length > 0,
      }
      standings.set(integration, standing)
      return standing
    }
    const integrations = now.integrations.map((one) => {
      const link = gateway.links.get(one.id)
      const own = link?.adapter.gates?.() ?? []
      const mine = countersOf.get(one.id) ?? []
      return {
        id: one.id,
        platform: one.platform,
        ...overview.linkOf(one.id, one.enabled),
        gates: [...integrationGates(one, standingOf(one)), ...ofModules.ofIntegration(one), ...own],
        ...overview.timesOf(one.id),
        complete: {
          ...overview.completeOf(one.id),
          late: sum(mine, 'found:late'),
        },
        drops: drops(mine),
        refusals: refusals(mine, one, { recorded, own }),
        sends_waiting: sum(mine, 'send:queued') + sum(mine, 'send:sending'),
        sends_failed: sum(mine, 'send:failed') + sum(mine, 'send:unknown'),
      }
    })
    const viewOf = new Map(integrations.map((one) => [one.id, one]))
    /** The channel server behind a binding that was made for it, or that names it. */
    const serverOf = ({ plugin, instance }: Binding, agent: string): ServerStanding | null => {
      if (plugin !== CHANNEL_PLATFORM) return null
      const named = viewOf.get(instance)
      const found =
        named?.platform === CHANNEL_PLATFORM ? named : viewOf.get(channelIntegrationId(instance, agent))
      return found ? { integration: found.id, link: found, gates: found.gates } : null
    }
    const agents = now.agents.map((one) => {
      const post = gateway.roster.get(one.id)
      const ofModule = ofModules.ofAgent(one)
      const last = lastAt.get(one.id)
      const standing = overview.agentOf(one.id)
      const { attached, detail } = standing
      return {
        id: one.id,
        connector: one.connector.type,
        ...standing,
        ...processViews(post?.connector.processes?.() ?? []),
        queued: overview.queuedOf.get(one.id) ?? 0,
        bindings: one.bindings.map((binding, at) => {
          const integration = integrationById(now, binding.instance)
          const server = serverOf(binding, one.id)
          return {
            integration: binding.instance,
            conversations: binding.conversations?.join(', ') ?? 'all others',
            gates: bindingGates(one, binding, {
              at,
              integration,
              link: overview.linkOf(binding.instance, integration?.enabled ?? true),
              attached,
              detail,
              standing: integration ? standingOf(integration) : NO_STANDING,
              own: [
                ...(server ? [] : (gateway.links.get(binding.instance)?.adapter.gates?.() ?? [])),
                ...ofModule,
              ],
              server,
            }),
          }
        }),
        last_message_at: last === undefined ? null : iso(last),
        approvals_pending: overview.pendingOf.get(one.id) ?? 0,
      }
    })
    const unseen = await unseenTurns({ store, roster: gateway.roster, settings: now, now: clock.now() })
    const turnedAway = (deps.turnedAway?.() ?? []).map((one) => ({ ...one, at: iso(one.at) }))
    const leftOut = (deps.leftOut?.() ?? []).map((one) => ({ ...one, at: iso(one.at) }))
    const { modules = [] } = ofModules.standing()
    const report: ReportBeforeHealth = {
      ...{ config: { file, ...config }, store: overview.store },
      ...(nodes.length > 1
        ? { cluster: { nodes, warnings: [...between.problems, ...between.warnings] } }
        : {}),
      ledger,
      ...(modules.length === 0 ? {} : { modules }),
      integrations,
      ...(overview.servers ? { servers: overview.servers } : {}),
      agents,
      ...(overview.schedules ? { schedules: overview.schedules } : {}),
      ...(unseen.length === 0 ? {} : { unseen }),
      ...(turnedAway.length === 0 ? {} : { turned_away: turnedAway }),
      ...(leftOut.length === 0 ? {} : { tools_left_out: leftOut }),
      ...(security && deps.exposure ? { security: await judgeRunning(deps, deps.exposure(), sendTest) } : {}),
    }
    const problems = healthFindings(
      report,
      await healthFacts(deps, { counters, refused, asks: ofModules.asks }),
    )
    return { ok: problems.every(({ severity }) => severity !== 'problem'), problems, ...report }
  }
}

/** The programs that run for an agent here. */
function processViews(processes: readonly ProcessView[]): Pick<DoctorReport['agents'][number], 'processes'> {
  if (processes.length === 0) return {}
  return {
    processes: processes.map(({ name, pid, startedAt, memoryBytes, stderr }) => ({
      ...{ name, pid, stderr },
      since: iso(startedAt),
      memory_bytes: memoryBytes,
    })),
  }
}

function drops(counters: readonly Counter[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const one of counters) {
    if (one.count > 0 && ['refused', 'failed', 'expired'].includes(one.name))
      found[one.reason || one.name] = (found[one.reason || one.name] ?? 0) + one.count
  }
  return found
}

function sum(counters: readonly Counter[], name: string): number {
  return counters.reduce((total, one) => (one.name === name ? total + one.count : total), 0)
}
