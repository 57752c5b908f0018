// Replays the ledger: states, counters, approvals and grants as the entries alone define them. Pure. verify compares
// the result with the tables.
import type { LedgerEntry } from '../../contract/index.ts'
import { rowSeq, SEND_STATES, TURN_STATES } from '../../contract/index.ts'
import type { Checkpoint } from '../checkpoint.ts'
import { fromRanges } from '../ranges.ts'
import { countedReason, FOUND_LATE } from '../verb-context.ts'

export interface Replay {
  /** Applies an entry. Returns the problem with it, or null. */
  apply(
    entry: Pick<
      LedgerEntry,
      'kind' | 'ref' | 'integration' | 'from' | 'to' | 'reason' | 'count' | 'detail' | 'digest'
    >,
  ): string | null
  /** Integration, name and reason (joined by newlines) → count, without zeros. */
  counts(): ReadonlyMap<string, number>
  readonly turns: StateBySeq
  readonly sends: StateBySeq
  /** Approval id → state and the person who decided. */
  readonly approvals: ReadonlyMap<
    string,
    { readonly state: string; readonly by: string; readonly behavior: string; readonly inputHash: string }
  >
  readonly grants: ReadonlySet<string>
}

const OPEN_TURNS: readonly string[] = ['queued', 'handed']
const OPEN_SENDS: readonly string[] = ['queued', 'sending']

/** One byte per row: a million turns take a megabyte. */
export interface StateBySeq {
  get(seq: number): string
  readonly size: number
}

/** `from`: the summary of the entries up to a checkpoint. */
export function createReplay(tag: string, from?: Checkpoint): Replay {
  const counts = new Map<string, number>(Object.entries(from?.counts ?? {}))
  const turns = createStates(TURN_STATES)
  const sends = createStates(SEND_STATES)
  const approvals = new Map<string, { state: string; by: string; behavior: string; inputHash: string }>()
  const grants = new Set<string>(from?.grants)
  const before = { turns: from?.turns ?? 0, sends: from?.sends ?? 0 }
  const add = (integration: string, name: string, reason: string, delta: number) => {
    const key = `${integration}\n${name}\n${reason}`
    const next = (counts.get(key) ?? 0) + delta
    if (next === 0) counts.delete(key)
    else counts.set(key, next)
  }
  const applyMove: Replay['apply'] = (entry) => {
    const send = entry.kind === 'send'
    const prefix = send ? 'send:' : ''
    const { integration, from, to, reason } = entry
    add(integration, prefix + to, countedReason(to, reason), entry.count)
    if (from !== '') add(integration, prefix + from, String(parsed(entry.detail).was ?? ''), -entry.count)
    else if (!send) {
      add(integration, 'received', '', entry.count)
      if (entry.detail.includes('"late":') && parsed(entry.detail).late !== undefined)
        add(integration, FOUND_LATE, '', entry.count)
    }
    if (entry.ref === '') return null
    const seq = rowSeq(send ? 'o' : 't', tag, entry.ref)
    if (seq === null) return `${entry.ref} is no row of this store`
    const states = send ? sends : turns
    const was = states.get(seq)
    // Its first entry may precede the checkpoint.
    const unknown = was === '' && seq <= (send ? before.sends : before.turns)
    if (was !== from && !unknown) return `${entry.ref} moves from "${from}" but was "${was}"`
    states.set(seq, to)
    return null
  }
  const applyPruned = (detail: Readonly<Record<string, unknown>>): string | null => {
    for (const [table, states, open] of [
      ['turns', turns, OPEN_TURNS],
      ['outbox', sends, OPEN_SENDS],
    ] as const) {
      for (const [first, last] of fromRanges(String(detail[table] ?? ''))) {
        for (let seq = first; seq <= last; seq++) {
          if (open.includes(states.get(seq))) return `row ${seq} of ${table} was pruned while it was open`
          states.remove(seq)
        }
      }
    }
    for (const id of String(detail.approvals ?? '').split(' ')) approvals.delete(id)
    return null
  }
  return {
    apply(entry) {
      if (entry.kind === 'turn' || entry.kind === 'send') return applyMove(entry)
      if (entry.kind === 'audit' && entry.ref === 'rows' && entry.to === 'pruned')
        return applyPruned(parsed(entry.detail))
      if (entry.kind === 'approval') {
        const told = parsed(entry.detail)
        const before = approvals.get(entry.ref)
        approvals.set(entry.ref, {
          state: entry.to,
          by: entry.from === '' ? '' : String(told.by ?? before?.by ?? ''),
          behavior: entry.from === '' ? '' : String(told.behavior ?? before?.behavior ?? ''),
          inputHash: entry.digest,
        })
      } else if (entry.kind === 'access') {
        const [change = ''] = entry.to.split(':')
        const right = entry.to.slice(change.length + 1)
        const key = `${entry.integration}\n${entry.ref}\n${right}`
        if (change === 'granted') grants.add(key)
        if (change === 'revoked') grants.delete(key)
      } else if (entry.kind === 'pairing' && entry.to === 'approved') {
        for (const right of String(parsed(entry.detail).rights ?? '').split(' ')) {
          grants.add(`${entry.integration}\n${entry.ref}\n${right}`)
        }
      }
      return null
    },
    counts: () => counts,
    turns,
    sends,
    approvals,
    grants,
  }
}

function createStates(names: readonly string[]) {
  let bytes = new Uint8Array(1024)
  let size = 0
  return {
    get: (seq: number): string => {
      const code = bytes[seq] ?? 0
      return code === 0 ? '' : (names[code - 1] ?? '')
    },
    set(seq: number, state: string): void {
      if (seq >= bytes.length) {
        const larger = new Uint8Array(Math.max(bytes.length * 2, seq + 1))
        larger.set(bytes)
        bytes = larger
      }
      if (bytes[seq] === 0) size += 1
      bytes[seq] = names.indexOf(state) + 1
    },
    remove(seq: number): void {
      if ((bytes[seq] ?? 0) === 0) return
      size -= 1
      bytes[seq] = 0
    },
    get size() {
      return size
    },
  }
}

export function parsed(detail: string): Readonly<Record<string, unknown>> {
  if (detail === '') return {}
  try {
    return JSON.parse(detail) as Record<string, unknown>
  } catch {
    return {}
  }
}
