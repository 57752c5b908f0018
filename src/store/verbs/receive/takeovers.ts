// Takeovers: a person holds a conversation in the agent's place. Each address has one live row, won by compare-and-set;
// a second person finds the row. The commit of the takeover ends the turns that wait or run there. It locks lanes first
// and turns second, like every verb.
import {
  type AskOrder,
  type EndOrder,
  type EndResult,
  formatAddress,
  type NewSend,
  rowId,
  type SayOrder,
  type SayResult,
  type TakeOrder,
  type TakeoverRow,
  type TakeResult,
  withoutNulls,
} from '../../../contract/index.ts'
import { HANDED_OR_SEEN } from '../../in-flight.ts'
import { LIVE_TAKEOVER, TAKEOVER_COLUMNS, takeoverRow } from '../../reads/takeovers.ts'
import {
  firstRow,
  type Param,
  type Row,
  rows,
  run,
  type Steps,
  text,
  textOrNull,
  whole,
} from '../../statement.ts'
import { hint, oneByOne, recordFact, recordMove, type VerbContext } from '../../verb-context.ts'
import { enqueueSends } from '../sends/enqueue.ts'
import { breakLane, lockLanes } from '../turns/lanes.ts'

function* lockLive(address: string): Steps<TakeoverRow | null> {
  const row = yield* firstRow(
    `SELECT ${TAKEOVER_COLUMNS} FROM takeovers WHERE address = $1 AND ${LIVE_TAKEOVER} @lock`,
    [address],
  )
  return row ? takeoverRow(row) : null
}

/** Two nodes may both find no row. The index admits one, and the second node reads it. */
const TRIES = 3

export const takeOver = oneByOne(function* (context: VerbContext, order: TakeOrder): Steps<TakeResult> {
  const address = formatAddress(order.at)
  for (let tries = 0; tries < TRIES; tries++) {
    const live = yield* lockLive(address)
    if (live?.state === 'held' && (live.holder === order.by || !order.force))
      return { won: live.holder === order.by, takeover: live, previous: null, queued: [], running: [] }
    const previous = live?.state === 'held' ? yield* end(context, live, 'forced', order.by) : null
    const takeover = yield* hold(context, previous ? null : live, order)
    if (!takeover) continue
    const fact = { kind: 'takeover', ref: takeover.id, integration: order.at.integration }
    const from = live?.state === 'asked' ? 'asked' : ''
    recordFact(context, { ...fact, from, to: 'held' }, { address, by: order.by, name: order.name })
    hint(context, { kind: 'takeover', id: address })
    return { won: true, takeover, previous, ...(yield* endOpenTurns(context, takeover)) }
  }
  throw new Error('a takeover was neither written nor found')
})

/** Null: another node was first. */
function* hold(context: VerbContext, asked: TakeoverRow | null, order: TakeOrder): Steps<TakeoverRow | null> {
  context.heldless = false
  const { now } = context
  if (asked) {
    yield* run(
      `UPDATE takeovers SET state = 'held', holder = $2, holder_name = $3, since = $4, last_word_at = $4 WHERE id = $1`,
      [asked.id, order.by, order.name, now],
    )
    return {
      ...asked,
      ...{ state: 'held', holder: order.by, holderName: order.name, since: now, lastWordAt: now },
    }
  }
  const row: TakeoverRow = {
    ...begun(context, order),
    ...{ state: 'held', asked: null, holder: order.by, holderName: order.name, since: now, lastWordAt: now },
  }
  return (yield* insertRow(context, row)) ? row : null
}

function begun(context: VerbContext, { at, platform, agent }: Pick<TakeOrder, 'at' | 'platform' | 'agent'>) {
  const id = `h_${context.random.uuid().replaceAll('-', '')}`
  return { id, address: formatAddress(at), at, platform, agent, ended: null }
}

function* insertRow(context: VerbContext, row: TakeoverRow): Steps<boolean> {
  const { at, asked } = row
  const written = yield* run(
    `INSERT INTO takeovers (id, address, integration, conversation, thread, platform, agent, state, asked_by,
     asked_reason, asked_summary, asked_at, holder, holder_name, since, last_word_at, began_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
     ON CONFLICT (address) WHERE ${LIVE_TAKEOVER} DO NOTHING`,
    [
      ...[row.id, row.address, at.integration, at.conversation, at.thread ?? null, row.platform, row.agent],
      ...[row.state, asked?.by ?? null, asked?.reason ?? null, asked?.summary ?? null, asked?.at ?? null],
      ...[row.holder, row.holderName, row.since, row.lastWordAt, context.now],
    ],
  )
  return written === 1
}

// Searches the open rows, which are few for any place. Expressions keep the columns away from indexes that would read
// whole conversations.
const OPEN_HERE = `conversation || '' = $2 AND integration || '' = $1 AND COALESCE(thread, '') = $3`
const OPEN_TURN = 'seq, session, agent, integration, state, reason'

/** Waiting turns go to the person. Running turns can no longer be settled. */
function* endOpenTurns(
  context: VerbContext,
  { id, at }: TakeoverRow,
): Steps<Pick<TakeResult, 'queued' | 'running'>> {
  const place = [at.integration, at.conversation, at.thread ?? '']
  const open = (lock: string) =>
    // Queued turns first: a turn that is being handed over now is waited for, and then found among the running ones.
    [`state = 'queued'`, ...HANDED_OR_SEEN].map(
      (state) => `SELECT ${OPEN_TURN} FROM turns WHERE ${state} AND ${OPEN_HERE} ORDER BY seq ${lock}`,
    )
  const lanes = new Set<string>()
  for (const sql of open(''))
    for (const row of yield* rows(sql, place)) lanes.add(textOrNull(row, 'session') ?? '')
  lanes.delete('')
  const order = [...lanes].sort()
  yield* lockLanes(context, 'turns', order)
  const [queued = [], ...held] = yield* each(open('@lock'), place)
  const running = held.flat().toSorted((one, other) => whole(one, 'seq') - whole(other, 'seq'))
  for (const lane of order) if (!(yield* othersRun(lane, running))) yield* breakLane(context, 'turns', lane)
  yield* endTurns(context, queued, { state: 'consumed', reason: 'held', takeover: id })
  yield* endTurns(context, running, { state: 'failed', reason: 'cancelled', takeover: id })
  const idOf = (row: Row) => rowId('t', context.tag, whole(row, 'seq'))
  return {
    queued: queued.map(idOf),
    running: running.map((row) => ({ id: idOf(row), agent: text(row, 'agent') })),
  }
}

function* each(statements: readonly string[], params: readonly Param[]): Steps<(readonly Row[])[]> {
  const answers: (readonly Row[])[] = []
  for (const sql of statements) answers.push(yield* rows(sql, params))
  return answers
}

/** A chat that switched to another thread shares its lane. Turns of the other thread continue. */
function* othersRun(lane: string, running: readonly Row[]): Steps<boolean> {
  const ours = new Set(running.map((row) => whole(row, 'seq')))
  const session = yield* firstRow('SELECT seq FROM sessions WHERE id = $1', [lane])
  const inLane = HANDED_OR_SEEN.map((state) => `SELECT seq FROM turns WHERE lane = $1 AND ${state}`)
  const held = yield* each(inLane, [session ? whole(session, 'seq') : 0])
  return held.flat().some((row) => !ours.has(whole(row, 'seq')))
}

export interface HeldEnd {
  readonly state: 'consumed' | 'failed'
  readonly reason: 'held' | 'cancelled'
  readonly takeover: string
}

/** Ends these turns. The rows need seq, integration, state and reason. */
export function* endTurns(context: VerbContext, found: readonly Row[], to: HeldEnd): Steps<void> {
  if (found.length === 0) return
  yield* run('UPDATE turns SET state = $2, reason = $3, takeover = $4, updated_at = $5 WHERE seq @any($1)', [
    found.map((row) => whole(row, 'seq')),
    to.state,
    to.reason,
    to.takeover,
    context.now,
  ])
  for (const row of found) {
    const id = rowId('t', context.tag, whole(row, 'seq'))
    recordMove(context, {
      ...{ kind: 'turn', id, integration: text(row, 'integration'), from: text(row, 'state') },
      ...{ fromReason: null, to: to.state, reason: to.reason, detail: { takeover: to.takeover } },
    })
    hint(context, { kind: 'turn', id })
  }
}

export interface SayCall extends SayOrder {
  readonly sends: readonly NewSend[]
}

export const sayHeld = oneByOne(function* (
  context: VerbContext,
  { at, by, sends }: SayCall,
): Steps<SayResult> {
  const live = yield* lockLive(formatAddress(at))
  if (live?.state !== 'held' || live.holder !== by)
    return { outcome: 'not_holder', takeover: live?.state === 'held' ? live : null }
  yield* run('UPDATE takeovers SET last_word_at = $2 WHERE id = $1', [live.id, context.now])
  const said = yield* enqueueSends(
    context,
    sends.map((send) => ({ ...send, takeover: live.id })),
  )
  const fact = { kind: 'takeover', ref: live.id, integration: at.integration, to: 'said' }
  for (const { id, repeated } of said) if (!repeated) recordFact(context, fact, { by, send: id })
  hint(context, { kind: 'takeover', id: live.address })
  return { outcome: 'said', takeover: { ...live, lastWordAt: context.now }, sends: said }
})

export const endTakeover = oneByOne(function* (context: VerbContext, order: EndOrder): Steps<EndResult> {
  const live = yield* lockLive(formatAddress(order.at))
  if (!live || !mayEnd(live, order)) return { outcome: 'not_holder', takeover: live }
  const how = live.state === 'asked' ? 'withdrawn' : order.how
  return { outcome: 'ended', takeover: yield* end(context, live, how, order.by) }
})

function mayEnd(live: TakeoverRow, { by, how, id, lastWordAt }: EndOrder): boolean {
  if (id !== undefined && live.id !== id) return false
  // The holder wrote after the timer was read.
  if (lastWordAt !== undefined && live.lastWordAt !== lastWordAt) return false
  if (live.state === 'asked') return how === 'given' || how === 'forced' || how === 'withdrawn'
  return how !== 'withdrawn' && (how !== 'given' || live.holder === by)
}

function* end(
  context: VerbContext,
  live: TakeoverRow,
  how: NonNullable<TakeoverRow['ended']>['how'],
  by: string,
): Steps<TakeoverRow> {
  yield* run(
    `UPDATE takeovers SET state = 'ended', ended_at = $2, ended_how = $3, ended_by = $4 WHERE id = $1`,
    [live.id, context.now, how, by],
  )
  const fact = { kind: 'takeover', ref: live.id, integration: live.at.integration, from: live.state }
  const whose = withoutNulls({ holder: live.holder })
  recordFact(context, { ...fact, to: 'ended' }, { address: live.address, how, by, ...whose })
  hint(context, { kind: 'takeover', id: live.address })
  return { ...live, state: 'ended', ended: { at: context.now, how, by } }
}

export const askTakeover = oneByOne((context: VerbContext, order: AskOrder) => askForTakeover(context, order))

export function* askForTakeover(
  context: VerbContext,
  order: AskOrder,
): Steps<{ readonly asked: boolean; readonly takeover: TakeoverRow }> {
  const { by, reason, summary } = order
  for (let tries = 0; tries < TRIES; tries++) {
    const live = yield* lockLive(formatAddress(order.at))
    if (live) return { asked: false, takeover: live }
    const takeover: TakeoverRow = {
      ...begun(context, order),
      ...{ state: 'asked', asked: { by, reason, summary, at: context.now } },
      ...{ holder: null, holderName: null, since: null, lastWordAt: null },
    }
    if (!(yield* insertRow(context, takeover))) continue
    const fact = { kind: 'takeover', ref: takeover.id, integration: order.at.integration, to: 'asked' }
    recordFact(context, fact, { address: takeover.address, by })
    hint(context, { kind: 'takeover', id: takeover.address })
    return { asked: true, takeover }
  }
  throw new Error('a takeover was neither written nor found')
}
