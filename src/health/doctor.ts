// Makes the report of `doctor` from the running gateway. For each integration and binding, it has every gate with its
// reason and the key that changes it, the last times, drops with reasons, and waiting work.
import { channelIntegrationId } from '../config/channel-integrations.ts'
import {
  type Binding,
  bindingsAt,
  CHANNEL_PLATFORM,
  type Counter,
  type DoctorReport,
  defined,
  integrationById,
  iso,
  isoOrNull,
  type ProcessView,
} from '../contract/index.ts'
import { approversOn } from '../core/people/approvers.ts'
import type { Attachments } from '../gateway/access/attached-hosts.ts'
import type { Gateway } from '../gateway/gateway.ts'
import type { GatewayServiceTools } from '../gateway/service-tools.ts'
import type { Adapters } from '../modules/module-catalog.ts'
import { problemsOf, type ReportBeforeChecks } from './checks.ts'
import { doctorFacts, ledgerStanding, unseenTurns } from './doctor-facts.ts'
import {
  bindingGates,
  integrationGates,
  recordedKeys,
  refusals,
  type ServerStanding,
} from './doctor-gates.ts'
import { type Exposure, judgeRunning } from './judge-security.ts'
import { createModuleGates } from './module-gates.ts'
import { readOverview, type StatusSource } from './overview.ts'

const HOUR_MS = 3_600_000

export interface DoctorDeps extends StatusSource {
  readonly gateway: Gateway
  /** Hosts that were refused. Absent: no host can attach. */
  readonly turnedAway?: Attachments['turnedAway'] | undefined
  /** Tool servers of services whose tools could not be listed. */
  readonly leftOut?: GatewayServiceTools['problems'] | undefined
  /** The facts for `doctor --security`. Absent: it is not judged. */
  readonly exposure?: (() => Exposure) | undefined
  /** The adapters' own results. Absent: none. */
  readonly adapters?: Pick<Adapters, 'loadedPlatform' | 'loadedConnector' | 'changed'> | undefined
}

export interface DoctorOptions {
  /** Includes security findings, in `security`. */
  readonly security?: boolean
  /** Lets every capable integration test on the real service whether a forged sender would be believed. */
  readonly sendTest?: boolean
}

export type Doctor = (options?: DoctorOptions) => Promise<DoctorReport>

export function createDoctor(deps: DoctorDeps): Doctor {
  const { store, gateway, settings, clock } = deps
  const modules = createModuleGates(deps.adapters, settings)
  return async ({ security = false, sendTest = false } = {}) => {
    const now = settings()
    const [overview, refused, ledger, lastAt, unseen] = await Promise.all([
      readOverview(deps),
      store.recentRefusals(clock.now() - HOUR_MS),
      ledgerStanding(store),
      store.lastReceived(now.agents.map(({ id }) => id)),
      unseenTurns({ store, roster: gateway.roster, settings: now, now: clock.now() }),
    ])
    const { counters, nodes } = overview
    const { digest, file, problem, warnings } = overview.config
    const recorded = recordedKeys(refused)
    // Each list is read once, because there may be thousands of integrations and agents.
    const countersOf = new Map<string, Counter[]>(now.integrations.map(({ id }) => [id, []]))
    for (const counter of counters) countersOf.get(counter.integration)?.push(counter)
    const accessGates = new Map(
      now.integrations.map((one) => {
        const paired = gateway.grants.senders(one.id, 'talk').length
        const approvers = approversOn(now, gateway.grants, one).length
        const bound = bindingsAt(now, one.id).length > 0
        return [one.id, integrationGates(one, { paired, approvers, bound })]
      }),
    )
    const ownGates = (id: string) => gateway.links.get(id)?.adapter.checks?.gates?.() ?? []
    const integrations = now.integrations.map((one) => {
      const own = ownGates(one.id)
      const mine = countersOf.get(one.id) ?? []
      const sum = (name: string) =>
        mine.reduce((total, counter) => (counter.name === name ? total + counter.count : total), 0)
      return {
        id: one.id,
        platform: one.platform,
        ...overview.linkOf(one.id, one.enabled),
        gates: [...(accessGates.get(one.id) ?? []), ...modules.ofIntegration(one), ...own],
        ...overview.timesOf(one.id),
        complete: { ...overview.completeOf(one.id), late: sum('found:late') },
        drops: drops(mine),
        refusals: refusals(mine, one, { recorded, own }),
        sends_waiting: sum('send:queued') + sum('send:sending'),
        sends_failed: sum('send:failed') + sum('send:unknown'),
      }
    })
    const viewOf = new Map(integrations.map((one) => [one.id, one]))
    /** The channel server behind a binding that was made for it, or that names it. */
    const serverOf = ({ plugin, instance }: Binding, agent: string): ServerStanding | null => {
      if (plugin !== CHANNEL_PLATFORM) return null
      const named = viewOf.get(instance)
      const server =
        named?.platform === CHANNEL_PLATFORM ? named : viewOf.get(channelIntegrationId(instance, agent))
      return server ? { integration: server.id, link: server, gates: server.gates } : null
    }
    const agents = now.agents.map((one) => {
      const ofModule = modules.ofAgent(one)
      const standing = overview.agentOf(one.id)
      return {
        id: one.id,
        connector: one.connector.type,
        ...standing,
        ...processViews(gateway.roster.get(one.id)?.connector.processes?.() ?? []),
        queued: overview.queuedOf.get(one.id) ?? 0,
        bindings: one.bindings.map((binding, at) => {
          const { instance, conversations } = binding
          const integration = integrationById(now, instance)
          const server = serverOf(binding, one.id)
          return {
            integration: instance,
            conversations: conversations?.join(', ') ?? 'all others',
            gates: bindingGates(one, binding, {
              at,
              integration,
              link: overview.linkOf(instance, integration?.enabled ?? true),
              standing,
              own: [
                ...(server ? [] : [...(accessGates.get(instance) ?? []), ...ownGates(instance)]),
                ...ofModule,
              ],
              server,
            }),
          }
        }),
        last_message_at: isoOrNull(lastAt.get(one.id) ?? null),
        approvals_pending: overview.pendingOf.get(one.id) ?? 0,
      }
    })
    const timed = <Row extends { readonly at: number }>(rows: readonly Row[] = []) =>
      listed(rows.map((row) => ({ ...row, at: iso(row.at) })))
    const report: ReportBeforeChecks = {
      config: { file, digest, problem, warnings },
      store: overview.store,
      ...defined({ cluster: nodes.length > 1 ? { nodes, warnings: [] } : undefined }),
      ledger,
      ...modules.standing(),
      integrations,
      ...defined({ servers: overview.servers }),
      agents,
      ...defined({
        schedules: overview.schedules,
        unseen: listed(unseen),
        turned_away: timed(deps.turnedAway?.()),
        tools_left_out: timed(deps.leftOut?.()),
        security: security && deps.exposure ? await judgeRunning(deps, deps.exposure(), sendTest) : undefined,
      }),
    }
    const facts = await doctorFacts(deps, { counters, refused, asks: modules.asks })
    const problems = problemsOf({ ...report, ...facts })
    const between = problems.filter(({ code }) => code === 'nodes-differ' || code === 'clock-off')
    return {
      ok: problems.every(({ severity }) => severity !== 'problem'),
      problems,
      ...report,
      ...defined({ cluster: report.cluster && { nodes, warnings: between.map(({ text }) => text) } }),
    }
  }
}

function listed<Row>(rows: readonly Row[]): readonly Row[] | undefined {
  return rows.length === 0 ? undefined : rows
}

/** The programs that run for an agent here. */
function processViews(processes: readonly ProcessView[]): Pick<DoctorReport['agents'][number], 'processes'> {
  if (processes.length === 0) return {}
  return {
    processes: processes.map(({ name, pid, startedAt, memoryBytes, stderr }) => ({
      name,
      pid,
      stderr,
      since: iso(startedAt),
      memory_bytes: memoryBytes,
    })),
  }
}

/** Returns how many turns ended without an answer, by reason. */
function drops(counters: readonly Counter[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const { name, reason, count } of counters) {
    if (count > 0 && ['refused', 'failed', 'expired'].includes(name))
      found[reason || name] = (found[reason || name] ?? 0) + count
  }
  return found
}
