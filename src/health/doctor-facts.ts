// The facts that `doctor` reads from the store, the agents' hosts and the machine, beside what `status` shows.
import { statfs } from 'node:fs/promises'
import {
  type AgentSettings,
  type Counter,
  type DoctorReport,
  defined,
  everyRow,
  iso,
  isSideAct,
  type RecentRefusals,
  type Settings,
  type Store,
  type TurnRow,
  type UnseenView,
} from '../contract/index.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { wordsIn } from '../words/index.ts'
import type { DeliveryFacts, ReportBeforeChecks } from './checks.ts'
import type { DoctorDeps } from './doctor.ts'
import { silentApprovals } from './silent-approvals.ts'
import { totals } from './status.ts'

/** A turn may take this long. Messages behind a longer one are reported. */
const LONG_TURN_MS = 5 * 60_000
/** A send is due at once. An older one indicates an unavailable platform or network. */
const LONG_SEND_MS = 30_000
const LIMITS: readonly string[] = ['rate_limited', 'flood']

interface KnownFacts {
  readonly counters: readonly Counter[]
  /** Within the last hour. */
  readonly refused: readonly RecentRefusals[]
  readonly asks: (agent: AgentSettings) => boolean
}

export async function doctorFacts(
  { store, clock, standing, settings, gateway }: DoctorDeps,
  { counters, refused, asks }: KnownFacts,
): Promise<Omit<DeliveryFacts, keyof ReportBeforeChecks>> {
  const { grants, links, roster } = gateway
  return {
    undelivered: await undelivered(store, totals(counters).stuck),
    waiting: await store.waitingBehind(clock.now() - LONG_TURN_MS),
    sendsWaiting: await store.waitingSends(clock.now() - LONG_SEND_MS),
    freeDiskBytes: await freeBytes(standing().dataDir),
    overLimit: refused.filter(({ reason, count }) => count > 0 && LIMITS.includes(reason)),
    windowsFull: settings().agents.flatMap(({ id }) => {
      const reason = roster.get(id)?.connector.crowded?.() ?? null
      return reason === null ? [] : [{ agent: id, reason }]
    }),
    silentApprovals: silentApprovals({ settings: settings(), grants, links, asks }),
  }
}

/** With more rows than this, every row counts. */
const MOST_SENDS = 500

/** Counts answers, files and prompts among the failures. A failed reaction or notice withholds nothing. */
async function undelivered(
  store: Pick<Store, 'sends'>,
  stuck: DeliveryFacts['undelivered'],
): Promise<DeliveryFacts['undelivered']> {
  const counted = async (state: 'failed' | 'unknown') => {
    if (stuck[state] === 0 || stuck[state] > MOST_SENDS) return stuck[state]
    const rows = await store.sends({ states: [state], limit: 2 * MOST_SENDS })
    const open = rows.filter((row) => row.reason !== 'buried' && row.reason !== 'given_up')
    return Math.min(stuck[state], open.filter((row) => row.cause !== 'notice' && !isSideAct(row)).length)
  }
  return { failed: await counted('failed'), unknown: await counted('unknown') }
}

/** Null where the machine does not report it. */
async function freeBytes(folder: string): Promise<number | null> {
  const disk = await statfs(folder).catch(() => null)
  return disk && disk.blocks > 0 ? disk.bavail * disk.bsize : null
}

/**
 * Chains of the ledger that were sealed with another key: ledger.key was lost or replaced. The daemon continues with its
 * present key, so that messages flow.
 */
export async function ledgerStanding(store: Pick<Store, 'foreignChains'>): Promise<DoctorReport['ledger']> {
  const count = await store.foreignChains()
  const { found } = wordsIn().health.checks['ledger-foreign']
  return { foreign_chains: count, problem: count === 0 ? null : found({ count }) }
}

/** The number of oldest unseen turns shown per agent. The last one says that there are more. */
const MOST_UNSEEN = 20

export interface UnseenTurnsDeps {
  readonly store: Pick<Store, 'turns'>
  readonly roster: Pick<Gateway['roster'], 'get'>
  readonly settings: Settings
  readonly now: number
}

/** Returns turns at a host without evidence, each with its host and the likely cause. */
export async function unseenTurns(deps: UnseenTurnsDeps): Promise<readonly UnseenView[]> {
  const { store, roster, settings } = deps
  const before = deps.now - settings.tunables.unseenNoticeMs
  const told = settings.agents.filter(({ id }) => roster.get(id)?.connector.redelivery.unseenTold === true)
  if (told.length === 0) return []
  const handed = await handedTurns(store)
  const { tookBefore, neverTook } = wordsIn().health.checks['turn-unseen']
  return told.flatMap(({ id }) => {
    const connector = roster.get(id)?.connector
    const oldest = (handed.get(id) ?? []).slice(-MOST_UNSEEN - 1).reverse()
    const unseen = oldest.filter((row) => row.updatedAt <= before)
    return unseen.slice(0, MOST_UNSEEN).map((row, at) => {
      const where = connector?.whereIs?.(row.id) ?? null
      const more = at === MOST_UNSEEN - 1 && unseen.length > MOST_UNSEEN
      return {
        turn: row.id,
        agent: id,
        host: where?.host ?? null,
        since: iso(row.updatedAt),
        why: where?.proven ? tookBefore : (connector?.unseenBecause ?? neverTook),
        ...defined({ more: more ? (true as const) : undefined }),
      }
    })
  })
}

/** Returns all handed turns by agent, newest first. One query for all agents, because each would read all of them. */
async function handedTurns(store: UnseenTurnsDeps['store']): Promise<Map<string | null, TurnRow[]>> {
  const turns = new Map<string | null, TurnRow[]>()
  for await (const row of everyRow((page) => store.turns({ states: ['handed'], ...page }))) {
    const known = turns.get(row.agent)
    if (known) known.push(row)
    else turns.set(row.agent, [row])
  }
  return turns
}
