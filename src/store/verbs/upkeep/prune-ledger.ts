// pruneLedger: deletes the oldest entries, behind a checkpoint that summarises them. An entry goes only if it is old
// enough and its row is gone too. So each remaining row can be compared with all its entries.
import { type LedgerEntry, rowSeq } from '../../../contract/index.ts'
import { CHECKPOINT, type Checkpoint, keepCheckpoint, readCheckpoint } from '../../checkpoint.ts'
import { ledgerEntry } from '../../codec.ts'
import { CHAINS } from '../../ledger-chain.ts'
import { createReplay } from '../../reads/replay.ts'
import { firstRow, type Row, rows, run, type Steps, text, whole } from '../../statement.ts'
import { oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'
import type { OlderThan } from './upkeep.ts'

/** Deletes at most `limit` entries and returns how many. */
export const pruneLedger = oneByOne(function* (
  context: VerbContext,
  { olderThanMs, limit }: OlderThan,
): Steps<number> {
  // One node at a time, because two nodes would each write a checkpoint for the other's entries.
  yield* firstRow('SELECT value FROM meta WHERE name = $1 @lock', [CHAINS])
  const last = (yield* readCheckpoint())?.at ?? null
  const page = yield* rows('SELECT * FROM ledger WHERE seq > $1 ORDER BY seq LIMIT $2', [
    last?.through ?? 0,
    limit,
  ])
  const entries = page.map((row) => ledgerEntry(row, ''))
  const alive = yield* rowsAlive(context.tag, entries)
  const end = endOf(page, entries, (entry) => entry.at >= context.now - olderThanMs || alive(entry))
  if (end === 0) return 0
  const next = advance(context.tag, last, { page: page.slice(0, end), entries: entries.slice(0, end) })
  const written = JSON.stringify(next)
  yield* run('DELETE FROM ledger WHERE seq > $1 AND seq <= $2', [last?.through ?? 0, next.through])
  yield* keepCheckpoint(written)
  recordFact(context, CHECKPOINT)
  const entry = context.entries.at(-1)
  // The exact text, which `verify` compares with the copy in `meta`.
  if (entry) context.entries[context.entries.length - 1] = { ...entry, detail: written }
  return end
})

/** Whether an entry's row still exists. */
function* rowsAlive(tag: string, entries: readonly LedgerEntry[]): Steps<(entry: LedgerEntry) => boolean> {
  const seqsOf = (kinds: readonly string[], letter: 't' | 'o') =>
    entries.flatMap((entry) => {
      const seq = kinds.includes(entry.kind) && entry.ref !== '' ? rowSeq(letter, tag, entry.ref) : null
      return seq === null ? [] : [seq]
    })
  const turnKinds = ['turn', 'turn_event']
  const turns = yield* present('turns', seqsOf(turnKinds, 't'))
  const sends = yield* present('outbox', seqsOf(['send'], 'o'))
  const ids = entries.flatMap((entry) => (entry.kind === 'approval' ? [entry.ref] : []))
  const approvals = new Map<string, number>()
  if (ids.length > 0) {
    for (const row of yield* rows(
      'SELECT id, min(created_at) AS born FROM approvals WHERE id @any($1) GROUP BY id',
      [[...new Set(ids)]],
    ))
      approvals.set(text(row, 'id'), whole(row, 'born'))
  }
  return (entry) => {
    if (turnKinds.includes(entry.kind)) return turns.has(rowSeq('t', tag, entry.ref) ?? -1)
    if (entry.kind === 'send') return sends.has(rowSeq('o', tag, entry.ref) ?? -1)
    // Ids are reused: an entry from before the row's creation is about an earlier approval.
    return entry.kind === 'approval' && entry.at >= (approvals.get(entry.ref) ?? Number.POSITIVE_INFINITY)
  }
}

function* present(table: 'turns' | 'outbox', seqs: readonly number[]): Steps<ReadonlySet<number>> {
  if (seqs.length === 0) return new Set()
  const found = yield* rows(`SELECT seq FROM ${table} WHERE seq @any($1)`, [[...new Set(seqs)]])
  return new Set(found.map((row) => whole(row, 'seq')))
}

/**
 * Returns how many entries may go: up to the first that must stay, and never a part of a commit, because its MAC
 * covers all of it.
 */
function endOf(
  page: readonly Row[],
  entries: readonly LedgerEntry[],
  stays: (entry: LedgerEntry) => boolean,
): number {
  const unsealed = new Set<number>()
  let end = 0
  for (const [at, entry] of entries.entries()) {
    if (stays(entry)) break
    const chain = whole(page[at] as Row, 'chain')
    if (entry.mac === '') unsealed.add(chain)
    else unsealed.delete(chain)
    if (unsealed.size === 0) end = at + 1
  }
  return end
}

function advance(
  tag: string,
  last: Checkpoint | null,
  gone: { readonly page: readonly Row[]; readonly entries: readonly LedgerEntry[] },
): Checkpoint {
  const replay = createReplay(tag, last ?? undefined)
  const chains: Record<string, readonly [number, string]> = { ...last?.chains }
  let head = last?.head ?? ''
  let { turns = 0, sends = 0 } = last ?? {}
  for (const [at, entry] of gone.entries.entries()) {
    replay.apply(entry)
    if (entry.kind === 'turn') turns = Math.max(turns, rowSeq('t', tag, entry.ref) ?? 0)
    if (entry.kind === 'send') sends = Math.max(sends, rowSeq('o', tag, entry.ref) ?? 0)
    // An entry without a MAC is followed by one of its chain that has it, so the deleted part ends sealed.
    chains[String(whole(gone.page[at] as Row, 'chain'))] = [entry.n, entry.mac]
    head = entry.mac
  }
  const lastGone = gone.entries.at(-1) as LedgerEntry
  return {
    through: lastGone.seq,
    at: lastGone.at,
    entries: (last?.entries ?? 0) + gone.entries.length,
    head,
    chains,
    counts: Object.fromEntries(replay.counts()),
    grants: [...replay.grants],
    turns,
    sends,
  }
}
