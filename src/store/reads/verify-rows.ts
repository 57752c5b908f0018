// The second half of verify: bodies against their digests, and rows and counters against the ledger.
import { type Ask, formatAddress, type LedgerEntry, rowSeq, TURN_STATES } from '../../contract/index.ts'
import { digestOf } from '../mac.ts'
import { type Row, rows, type Steps, text, textOrNull, whole } from '../statement.ts'
import { parsed, type Replay } from './replay.ts'
import { readCounters } from './rest.ts'
import type { PruneCheck } from './verify-pruned.ts'

export interface Wrong {
  readonly seq: number
  readonly problem: string
}

export interface BodyCheck {
  expect(entry: LedgerEntry): void
  /** Compares the rows expected since the last call. */
  compare(): Steps<Wrong | null>
  /** Returns an op that differs from its first digest without a later entry that explains it; null: none. */
  unexplained(): Wrong | null
}

export function createBodyCheck(tag: string, prunes: PruneCheck): BodyCheck {
  let turns = new Map<number, LedgerEntry>()
  let sends = new Map<number, LedgerEntry>()
  // An op may be replaced later. Then its row matches a later entry.
  const differing = new Map<number, { readonly digest: string; readonly entry: LedgerEntry }>()
  return {
    expect(entry) {
      if (entry.ref === '' || (entry.kind !== 'turn' && entry.kind !== 'send')) return
      const seq = rowSeq(entry.kind === 'turn' ? 't' : 'o', tag, entry.ref)
      if (seq === null) return
      if (entry.kind === 'turn' && entry.from === '') turns.set(seq, entry)
      else if (entry.kind === 'send' && entry.from === '') sends.set(seq, entry)
      else if (entry.kind === 'send' && entry.digest !== '') {
        if (sends.has(seq)) sends.set(seq, entry)
        else if (differing.get(seq)?.digest === entry.digest) differing.delete(seq)
        // A second replacement: the present row was compared already, or is among the differing ones.
      }
    },
    *compare() {
      const wrong = yield* compareTurns(turns, prunes)
      turns = new Map()
      const held = sends
      sends = new Map()
      const opsFound =
        held.size === 0
          ? []
          : yield* rows('SELECT seq, integration, conversation, op FROM outbox WHERE seq @any($1)', [
              [...held.keys()],
            ])
      let redirected: Wrong | null = null
      for (const row of opsFound) {
        const entry = held.get(whole(row, 'seq'))
        if (entry && !sameDestination(row, entry)) {
          redirected ??= { seq: entry.seq, problem: `the destination of ${entry.ref} was changed` }
        }
        const op = textOrNull(row, 'op')
        if (op === null) prunes.absent('outbox', whole(row, 'seq'))
        if (!entry || op === null) continue
        const digest = digestOf(op)
        if (digest !== entry.digest) differing.set(whole(row, 'seq'), { digest, entry })
      }
      return wrong ?? redirected
    },
    unexplained() {
      for (const { entry } of differing.values()) {
        return { seq: entry.seq, problem: `the content of ${entry.ref} was changed` }
      }
      return null
    },
  }
}

/** The first entry of a send contains its destination. A later one (a replaced op) contains only the content. */
function sameDestination(row: Row, entry: LedgerEntry): boolean {
  if (entry.from !== '') return true
  return (
    text(row, 'integration') === entry.integration &&
    text(row, 'conversation') === parsed(entry.detail).conversation
  )
}

function* compareTurns(expected: ReadonlyMap<number, LedgerEntry>, prunes: PruneCheck): Steps<Wrong | null> {
  if (expected.size === 0) return null
  const found = yield* rows(
    `SELECT seq, integration, conversation, thread, message_id, sender, body FROM turns WHERE seq @any($1)`,
    [[...expected.keys()]],
  )
  let wrong: Wrong | null = null
  for (const row of found) {
    const entry = expected.get(whole(row, 'seq'))
    if (!entry) continue
    // A refused turn keeps only its digest.
    if (textOrNull(row, 'body') === null && entry.to !== 'refused') prunes.absent('turns', whole(row, 'seq'))
    const problem = turnProblem(row, entry)
    if (problem !== null && (wrong === null || entry.seq < wrong.seq)) wrong = { seq: entry.seq, problem }
  }
  return wrong
}

function turnProblem(row: Row, entry: LedgerEntry): string | null {
  const body = textOrNull(row, 'body')
  if (body !== null && digestOf(body) !== entry.digest) return `the body of ${entry.ref} was changed`
  const told = parsed(entry.detail)
  const thread = textOrNull(row, 'thread')
  const at = { integration: text(row, 'integration'), conversation: text(row, 'conversation') }
  const address = formatAddress(thread === null ? at : { ...at, thread })
  if (text(row, 'sender') !== told.sender || address !== told.address)
    return `the origin of ${entry.ref} was changed`
  return text(row, 'message_id') === told.message_id ? null : `the message id of ${entry.ref} was changed`
}

export interface TableReport {
  readonly received: number
  readonly accounted: number
  readonly ok: boolean
  readonly problem: string | null
}

const PAGE = 5000

/** Compares rows with the replay (reported through `broken`), and counters with the replay and with each other. */
export function* compareTables(
  replay: Replay,
  prunes: PruneCheck,
  broken: (problem: string) => void,
): Steps<TableReport> {
  yield* compareStates('turns', replay.turns, broken)
  yield* compareStates('outbox', replay.sends, broken)
  yield* compareApprovals(replay, prunes, broken)
  const granted = yield* rows('SELECT integration, sender, access_right FROM grants')
  const grants = granted.map(
    (row) => `${text(row, 'integration')}\n${text(row, 'sender')}\n${text(row, 'access_right')}`,
  )
  if (grants.length !== replay.grants.size || grants.some((key) => !replay.grants.has(key))) {
    broken('the grants are not those that the ledger tells')
  }
  return yield* compareCounters(replay)
}

function* compareStates(
  table: string,
  states: Replay['turns'],
  broken: (problem: string) => void,
): Steps<void> {
  let after = 0
  let seen = 0
  for (;;) {
    const page = yield* rows(`SELECT seq, state FROM ${table} WHERE seq > $1 ORDER BY seq LIMIT $2`, [
      after,
      PAGE,
    ])
    for (const row of page) {
      after = whole(row, 'seq')
      seen += 1
      const told = states.get(after)
      if (told !== text(row, 'state')) {
        broken(`row ${after} of ${table} is "${text(row, 'state')}", the ledger tells "${told}"`)
      }
    }
    if (page.length < PAGE) break
  }
  if (seen !== states.size) broken(`${table} has ${seen} rows, the ledger tells of ${states.size}`)
}

function* compareApprovals(
  replay: Replay,
  prunes: PruneCheck,
  broken: (problem: string) => void,
): Steps<void> {
  const latest = new Map<string, Row>()
  for (let after = 0; ; ) {
    const page = yield* rows(
      `SELECT seq, id, state, behavior, decided_by, ask, input_hash FROM approvals WHERE seq > $1
       ORDER BY seq LIMIT ${PAGE}`,
      [after],
    )
    for (const row of page) {
      after = whole(row, 'seq')
      const ask = parsed(text(row, 'ask')) as unknown as Ask
      if (ask.pruned) prunes.absent('approvals', after)
      else if (inputChanged(ask, text(row, 'input_hash')))
        broken(`what approval ${text(row, 'id')} asks was changed`)
      latest.set(text(row, 'id'), row)
    }
    if (page.length < PAGE) break
  }
  for (const [id, told] of replay.approvals) {
    const row = latest.get(id)
    latest.delete(id)
    const same =
      row &&
      text(row, 'state') === told.state &&
      text(row, 'behavior') === told.behavior &&
      text(row, 'decided_by') === told.by &&
      text(row, 'input_hash') === told.inputHash
    if (!same) broken(`approval ${id} is not as the ledger tells`)
  }
  if (latest.size > 0) broken('there are approvals that the ledger does not know')
}

/** The verdict's hash covers tool and input. Hashes of other makers cannot be checked here. */
function inputChanged({ toolName, input }: Ask, hash: string): boolean {
  return /^[0-9a-f]{64}$/.test(hash) && digestOf(JSON.stringify([toolName, input])) !== hash
}

function* compareCounters(replay: Replay): Steps<TableReport> {
  const expected = new Map(replay.counts())
  const perIntegration = new Map<string, number>()
  let received = 0
  let accounted = 0
  let problem: string | null = null
  for (const { integration, name, reason, count } of yield* readCounters()) {
    const key = `${integration}\n${name}\n${reason}`
    if ((expected.get(key) ?? 0) !== count) {
      problem ??= `the counter ${integration} ${name} ${reason} is ${count}, the ledger tells ${expected.get(key) ?? 0}`
    }
    expected.delete(key)
    const turnState = (TURN_STATES as readonly string[]).includes(name)
    if (name === 'received') received += count
    else if (turnState) accounted += count
    if (name === 'received' || turnState) {
      const sign = name === 'received' ? 1 : -1
      perIntegration.set(integration, (perIntegration.get(integration) ?? 0) + sign * count)
    }
  }
  if (expected.size > 0) problem ??= 'a counter that the ledger tells of is missing'
  for (const [integration, rest] of perIntegration) {
    if (rest !== 0) problem ??= `${integration}: received and accounted differ by ${rest}`
  }
  return { received, accounted, ok: problem === null && received === accounted, problem }
}
