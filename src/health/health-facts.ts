// The facts that `doctor` reads from the store and the machine for the health table, beside its report.
import { statfs } from 'node:fs/promises'
import {
  type AgentSettings,
  type Counter,
  iso,
  isSideAct,
  type RecentRefusals,
  type Store,
} from '../contract/index.ts'
import type { DoctorDeps } from './doctor.ts'
import type { HealthFacts } from './health-findings.ts'
import { silentApprovals } from './silent-approvals.ts'
import { totals } from './status.ts'

/** A turn may take this long. Messages behind a longer one are reported. */
const LONG_TURN_MS = 5 * 60_000
/** A send is due at once. An older one indicates an unavailable platform or network. */
const LONG_SEND_MS = 30_000
const BY_A_LIMIT: readonly string[] = ['rate_limited', 'flood']

export async function healthFacts(
  { store, clock, standing, settings, gateway }: DoctorDeps,
  {
    counters,
    refused,
    asks,
  }: {
    readonly counters: readonly Counter[]
    /** Within the last hour. */
    readonly refused: readonly RecentRefusals[]
    readonly asks: (agent: AgentSettings) => boolean
  },
): Promise<HealthFacts> {
  const [waiting, sendsWaiting, freeDiskBytes] = await Promise.all([
    store.waitingBehind(clock.now() - LONG_TURN_MS),
    store.waitingSends(clock.now() - LONG_SEND_MS),
    freeBytes(standing().dataDir),
  ])
  return {
    undelivered: await undelivered(store, totals(counters).stuck),
    waiting: waiting.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
    sendsWaiting: sendsWaiting.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
    freeDiskBytes,
    overLimit: refused.filter(({ reason, count }) => count > 0 && BY_A_LIMIT.includes(reason)),
    windowsFull: settings().agents.flatMap(({ id }) => {
      const reason = gateway.roster.get(id)?.connector.crowded?.() ?? null
      return reason === null ? [] : [{ agent: id, reason }]
    }),
    approvalsReachNobody: silentApprovals({
      ...{ settings: settings(), grants: gateway.grants, links: gateway.links, asks },
    }),
  }
}

/** With more rows than this, every row counts. */
const MOST_SENDS = 500

/** Counts answers, files and prompts among the failures. A failed reaction or notice withholds nothing. */
async function undelivered(
  store: Pick<Store, 'sends'>,
  stuck: HealthFacts['undelivered'],
): Promise<HealthFacts['undelivered']> {
  const counted = async (state: 'failed' | 'unknown') => {
    if (stuck[state] === 0 || stuck[state] > MOST_SENDS) return stuck[state]
    const rows = await store.sends({ states: [state], limit: 2 * MOST_SENDS })
    const shown = rows.filter((row) => row.reason !== 'buried' && row.reason !== 'given_up')
    return Math.min(stuck[state], shown.filter((row) => row.cause !== 'notice' && !isSideAct(row)).length)
  }
  const [failed, unknown] = await Promise.all([counted('failed'), counted('unknown')])
  return { failed, unknown }
}

/** Null where the machine does not report it. */
async function freeBytes(folder: string): Promise<number | null> {
  const found = await statfs(folder).catch(() => null)
  return found && found.blocks > 0 ? found.bavail * found.bsize : null
}
