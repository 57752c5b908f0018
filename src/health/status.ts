// Makes the report of `status`. Its numbers come from the store's counters, because counting rows would be slow.
import type { Counter, StatusReport } from '../contract/index.ts'
import { readOverview, type StatusSource } from './overview.ts'

/** Returns the report of a daemon, or of the store alone where no daemon runs. */
export async function statusReport(source: StatusSource): Promise<StatusReport> {
  const [overview, takeovers] = await Promise.all([readOverview(source), source.store.takeovers()])
  const { process, settings, nodes, config, store, queuedOf, pendingOf, servers, schedules } = overview
  return {
    ready: process.ready,
    node: process.node,
    version: process.version,
    uptime_ms: overview.now - process.startedAt,
    instance: { name: process.instance, config: process.configFile, data: process.dataDir },
    integrations: settings.integrations.map(({ id, platform, enabled }) => ({
      ...{ id, platform, ...overview.linkOf(id, enabled), ...overview.timesOf(id) },
      complete: overview.completeOf(id),
    })),
    ...(servers ? { servers } : {}),
    agents: settings.agents.map(({ id, connector }) => ({
      ...{ id, connector: connector.type, queued: queuedOf.get(id) ?? 0, ...overview.agentOf(id) },
    })),
    ...(schedules ? { schedules } : {}),
    ...totals(overview.counters),
    approvals: { pending: [...pendingOf.values()].reduce((total, count) => total + count, 0) },
    held: takeovers.filter(({ state }) => state === 'held').length,
    asked: takeovers.filter(({ state }) => state === 'asked').length,
    config,
    ...(nodes.length > 1 ? { nodes } : {}),
    store,
  }
}

/** Returns the figures of the whole gateway: turns by state, the outbox, and sends that need a person. */
export function totals(counters: readonly Counter[]): Pick<StatusReport, 'counts' | 'outbox' | 'stuck'> {
  const sum = (name: string, reason?: string) =>
    counters
      .filter((one) => one.name === name && (reason === undefined || one.reason === reason))
      .reduce((total, { count }) => total + count, 0)
  return {
    counts: {
      received: sum('received'),
      refused: sum('refused'),
      consumed: sum('consumed'),
      queued: sum('queued'),
      handed: sum('handed'),
      seen: sum('seen'),
      answered: sum('answered'),
      failed: sum('failed'),
      expired: sum('expired'),
    },
    outbox: {
      queued: sum('send:queued') + sum('send:sending'),
      sent: sum('send:sent'),
      deduplicated: sum('send:deduplicated'),
      failed: sum('send:failed'),
      unknown: sum('send:unknown'),
      outcome_open: sum('send:sending', 'outcome_open'),
    },
    stuck: {
      failed: sum('send:failed') - sum('send:failed', 'buried'),
      unknown: sum('send:unknown'),
    },
  }
}
