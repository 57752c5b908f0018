// What `doctor` asks of the store and the machine for the health table, beside its report.
import { statfs } from 'node:fs/promises'
import { type AgentSettings, type Counter, isSideAct, type Store, type TurnRow } from '../contract/index.ts'
import type { HealthFacts } from '../health/health-findings.ts'
import { silentApprovals } from './silent-approvals.ts'
import type { StatusDeps } from './status.ts'
import { iso, totals } from './views.ts'

/** A turn may well take this long; what waits behind a longer one is said. */
const LONG_TURN_MS = 5 * 60_000
/** A send is due at once; what is older meets a platform or a network that is away. */
const LONG_SEND_MS = 30_000
const HOUR_MS = 3_600_000
/** So many refusals of the last hour are looked at: enough to see which limit is hit. */
const MOST_REFUSED = 500
const BY_A_LIMIT: readonly (string | null)[] = ['rate_limited', 'flood']

export async function healthFacts(
  { store, clock, standing, settings, gateway }: StatusDeps,
  {
    counters,
    asks,
  }: { readonly counters: readonly Counter[]; readonly asks: (agent: AgentSettings) => boolean },
): Promise<HealthFacts> {
  const [waiting, sendsWaiting, refused, freeDiskBytes] = await Promise.all([
    store.waitingBehind(clock.now() - LONG_TURN_MS),
    store.waitingSends(clock.now() - LONG_SEND_MS),
    store.turns({ states: ['refused'], sinceMs: clock.now() - HOUR_MS, limit: MOST_REFUSED }),
    freeBytes(standing().dataDir),
  ])
  return {
    undelivered: await undelivered(store, totals(counters).stuck),
    waiting: waiting.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
    sendsWaiting: sendsWaiting.map(({ since, ...one }) => ({ ...one, since: iso(since) })),
    freeDiskBytes,
    overLimit: overLimit(refused),
    windowsFull: settings().agents.flatMap(({ id }) => {
      const reason = gateway.roster.get(id)?.connector.crowded?.() ?? null
      return reason === null ? [] : [{ agent: id, reason }]
    }),
    approvalsReachNobody: silentApprovals({
      ...{ settings: settings(), grants: gateway.grants, links: gateway.links, asks },
    }),
  }
}

/** Rows beyond that are not told apart: each is counted. */
const MOST_SENDS = 500

/** Of what ended badly, the answers, files and prompts: a reaction or a notice that fails keeps nothing from anybody. */
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

function overLimit(refused: readonly TurnRow[]): HealthFacts['overLimit'] {
  const found = new Map<string, { integration: string; reason: string; count: number }>()
  for (const { integration, reason } of refused) {
    if (reason === null || !BY_A_LIMIT.includes(reason)) continue
    const key = `${reason} ${integration}`
    const known = found.get(key) ?? { integration, reason, count: 0 }
    found.set(key, { ...known, count: known.count + 1 })
  }
  return [...found.values()]
}

/** Null where the machine does not say. */
async function freeBytes(folder: string): Promise<number | null> {
  const found = await statfs(folder).catch(() => null)
  return found && found.blocks > 0 ? found.bavail * found.bsize : null
}
