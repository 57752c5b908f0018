// keepTurnEvent: stores one more event that an agent reported about its work on a turn. The number per turn is limited,
// because the agent controls how much it reports. heardOf: records that the agent reported anything at all.
import { type NewTurnEvent, rowSeq, TURN_EVENT_CHARS, TURN_EVENTS_KEPT } from '../../../contract/index.ts'
import { digestOf } from '../../mac.ts'
import { firstRow, run, type Steps, whole, wholeOrNull } from '../../statement.ts'
import { storable } from '../../storable.ts'
import { hint, oneByOne, recordFact, type VerbContext } from '../../verb-context.ts'

/** Stores an event. False: no such turn, a known key, or the limit is reached. */
export const keepTurnEvent = oneByOne(function* (context: VerbContext, event: NewTurnEvent): Steps<boolean> {
  const turn = rowSeq('t', context.tag, event.turn)
  if (turn === null) return false
  const idem = event.key === null ? null : digestOf(event.key)
  for (;;) {
    const known = yield* firstRow(
      `SELECT t.seq, (SELECT MAX(n) FROM turn_events WHERE turn = t.seq) AS last,
       (SELECT n FROM turn_events WHERE turn = t.seq AND idem = $2) AS same FROM turns t WHERE t.seq = $1`,
      [turn, idem],
    )
    if (!known || wholeOrNull(known, 'same') !== null) return false
    const n = whole(known, 'last') + 1
    if (n > TURN_EVENTS_KEPT + 1) return false
    const over = n > TURN_EVENTS_KEPT
    const kind = over ? 'omitted' : event.kind
    const body = over ? '{}' : bodyOf(event)
    const written = yield* run(
      `INSERT INTO turn_events (turn, n, at, kind, body, idem) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
      [turn, n, context.now, kind, body, idem],
    )
    // Another node used the number, or stored the same event, at the same moment. Try again.
    if (written === 0) continue
    recordFact(
      context,
      { kind: 'turn_event', ref: event.turn, to: kind, digest: digestOf(body) },
      { n: String(n) },
    )
    return true
  }
})

export interface HeardCall {
  readonly turn: string
  readonly agent: string
}

export const heardOf = oneByOne(function* (context: VerbContext, call: HeardCall): Steps<boolean> {
  const seq = rowSeq('t', context.tag, call.turn)
  if (seq === null) return false
  // Not waited for: a commit that has the row moves the turn, which says more than a sign of life.
  const row = yield* firstRow(
    `SELECT seq FROM turns WHERE seq = $1 AND agent = $2 AND state IN ('handed','seen') @skip`,
    [seq, call.agent],
  )
  if (!row) return false
  yield* run('UPDATE turns SET updated_at = $2 WHERE seq = $1', [seq, context.now])
  hint(context, { kind: 'turn', id: call.turn })
  return true
})

function bodyOf({ call, name, text }: NewTurnEvent): string {
  return JSON.stringify({
    ...(call === null ? {} : { call: cut(call, 256) }),
    ...(name === null ? {} : { name: cut(name, 256) }),
    text: cut(text, TURN_EVENT_CHARS),
  })
}

function cut(text: string, chars: number): string {
  return storable(text.length > chars ? `${text.slice(0, chars - 1)}…` : text)
}
