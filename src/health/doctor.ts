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
  withoutNulls,
} from '../contract/index.ts'
import { approversOn } from '../core/people/approvers.ts'
import { completenessView } from '../gateway/completeness-view.ts'
import { agentStanding } from './agent-state.ts'
import { clusterFindings, linkAnywhere, nodeViews } from './cluster-view.ts'
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
import { judgeRunning } from './judge-security.ts'
import { createModuleGates } from './module-gates.ts'
import { scheduleViews } from './schedule-views.ts'
import { serverViews } from './server-views.ts'
import { lastTimes, linkState, queuedByAgent, type StatusDeps } from './status.ts'
import { unseenTurns } from './unseen-turns.ts'

const HOUR_MS = 3_600_000

export function createDoctor(deps: StatusDeps): Desk['doctor'] {
  const { store, gateway, settings, standing, clock } = deps
  const ofModules = createModuleGates(deps.adapters, settings)
  return async ({ security = false, sendTest = false } = {}) => {
    const now = settings()
    const me = standing()
    const [counters, refused, open, pending, durability, ledger, restored, compared, lastAt] =
      await Promise.all([
        store.counters(),
        store.recentRefusals(clock.now() - HOUR_MS),
        store.queuedTurns(),
        store.pendingApprovals(),
        store.durability(),
        ledgerStanding(store),
        store.restored(),
        store.historyLinks(),
        store.lastReceived(now.agents.map(({ id }) => id)),
      ])
    const recorded = recordedKeys(refused)
    // Each list is read once, because there may be thousands of integrations and agents.
    const countersOf = new Map<string, Counter[]>(now.integrations.map(({ id }) => [id, []]))
    for (const counter of counters) countersOf.get(counter.integration)?.push(counter)
    const queuedOf = queuedByAgent(open)
    const pendingOf = new Map(pending.map(({ agent, count }) => [agent, count]))
    const history = { rows: compared, restored, now: clock.now() }
    const others = gateway.cluster.others()
    const rows = gateway.cluster.nodes()
    const nodes = nodeViews(rows, clock.now())
    const between = clusterFindings(nodes, rows)
    const linkOf = (id: string, enabled: boolean) => linkAnywhere(linkState(gateway, id, enabled), id, others)
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
        ...linkOf(one.id, one.enabled),
        gates: [...integrationGates(one, standingOf(one)), ...ofModules.ofIntegration(one), ...own],
        ...lastTimes(link, one.id, others),
        complete: {
          ...completenessView(one.id, link?.adapter.history !== undefined, history),
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
      const standing = agentStanding(one.id, gateway, others)
      const { attached, detail } = standing
      return {
        id: one.id,
        connector: one.connector.type,
        ...standing,
        ...processViews(post?.connector.processes?.() ?? []),
        queued: queuedOf.get(one.id) ?? 0,
        bindings: one.bindings.map((binding, at) => {
          const integration = integrationById(now, binding.instance)
          const server = serverOf(binding, one.id)
          return {
            integration: binding.instance,
            conversations: binding.conversations?.join(', ') ?? 'all others',
            gates: bindingGates(one, binding, {
              at,
              integration,
              link: linkOf(binding.instance, integration?.enabled ?? true),
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
        approvals_pending: pendingOf.get(one.id) ?? 0,
      }
    })
    const unseen = await unseenTurns({ store, roster: gateway.roster, settings: now, now: clock.now() })
    const turnedAway = (deps.turnedAway?.() ?? []).map((one) => ({ ...one, at: iso(one.at) }))
    const leftOut = (deps.leftOut?.() ?? []).map((one) => ({ ...one, at: iso(one.at) }))
    const { modules = [] } = ofModules.standing()
    const report: ReportBeforeHealth = {
      config: { file: me.configFile, digest: now.digest, problem: me.configProblem, warnings: now.warnings },
      store: {
        kind: durability.kind,
        durability: durability.detail,
        ...withoutNulls({ problem: me.storeProblem }),
      },
      ...(nodes.length > 1
        ? { cluster: { nodes, warnings: [...between.problems, ...between.warnings] } }
        : {}),
      ledger,
      ...(modules.length === 0 ? {} : { modules }),
      integrations,
      ...serverViews(gateway.servers()),
      agents,
      ...(await scheduleViews(now, store, clock.now())),
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
