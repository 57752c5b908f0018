// What `doctor` asks of the store and the machine for the health table, beside its report.
import { statfs } from 'node:fs/promises'
import type { AgentSettings, Counter } from '../contract/index.ts'
import type { HealthFacts } from '../health/health-findings.ts'
import { silentApprovals } from './silent-approvals.ts'
import type { StatusDeps } from './status.ts'
import { iso, totals } from './views.ts'

/** A turn may well take this long; what waits behind a longer one is said. */
const LONG_TURN_MS = 5 * 60_000

export async function healthFacts(
  { store, clock, standing, settings, gateway }: StatusDeps,
  {
    counters,
    asks,
  }: { readonly counters: readonly Counter[]; readonly asks: (agent: AgentSettings) => boolean },
): Promise<HealthFacts> {
  const [waiting, freeDiskBytes] = await Promise.all([
    store.waitingBehind(clock.now() - LONG_TURN_MS),
    freeBytes(standing().dataDir),
  ])
  return {
    undelivered: totals(counters).stuck,
    waiting: waiting.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
    freeDiskBytes,
    windowsFull: settings().agents.flatMap(({ id }) => {
      const reason = gateway.roster.get(id)?.connector.crowded?.() ?? null
      return reason === null ? [] : [{ agent: id, reason }]
    }),
    approvalsReachNobody: silentApprovals({
      ...{ settings: settings(), grants: gateway.grants, links: gateway.links, asks },
    }),
  }
}

/** Null where the machine does not say. */
async function freeBytes(folder: string): Promise<number | null> {
  const found = await statfs(folder).catch(() => null)
  return found && found.blocks > 0 ? found.bavail * found.bsize : null
}
