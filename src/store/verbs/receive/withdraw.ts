// A message was deleted or edited. Its queued turns end as `consumed: withdrawn` and lose their body, in the commit of
// the deletion or of the replacing edit. A turn that was handed over continues. The deletion's own row serves as a
// mark: a message that arrives after it is withdrawn immediately.
import { DELETED_VERSION, type Effect, type ReceiveItem, rowId } from '../../../contract/index.ts'
import { toRanges } from '../../ranges.ts'
import { type Row, rows, run, type Steps, text, textOrNull, whole } from '../../statement.ts'
import { hint, recordFact, recordMove, type VerbContext } from '../../verb-context.ts'
import { lockLanes } from '../turns/lanes.ts'

/** Returns the ids of the ended turns. */
export function* withdrawMessage(
  context: VerbContext,
  { at, messageId, sender, versions }: Extract<Effect, { kind: 'withdraw' }>,
): Steps<readonly string[]> {
  const key = [at.integration, at.conversation, messageId]
  const isMeant = (row: Row) =>
    (sender === null || text(row, 'sender') === sender) && isAmong(whole(row, 'edit_version'), versions)
  yield* forgetHeard(context, key, isMeant)
  const sessions = yield* rows(
    `SELECT DISTINCT session FROM turns
     WHERE integration = $1 AND conversation = $2 AND message_id = $3 AND state = 'queued'`,
    key,
  )
  if (sessions.length === 0) return []
  // Lanes first, turns second: every verb locks in this order.
  yield* lockLanes(
    context,
    'turns',
    sessions.flatMap((row) => textOrNull(row, 'session') ?? []),
  )
  const queued = yield* rows(
    `SELECT seq, integration, sender, edit_version FROM turns
     WHERE integration = $1 AND conversation = $2 AND message_id = $3 AND state = 'queued' ORDER BY seq @lock`,
    key,
  )
  const own = queued.filter(isMeant)
  if (own.length === 0) return []
  const seqs = own.map((row) => whole(row, 'seq'))
  yield* run(
    `UPDATE turns SET state = 'consumed', reason = 'withdrawn', body = NULL, updated_at = $2 WHERE seq @any($1)`,
    [seqs, context.now],
  )
  erased(context, seqs)
  return own.map((row) => {
    const id = rowId('t', context.tag, whole(row, 'seq'))
    recordMove(context, {
      ...{ kind: 'turn', id, integration: text(row, 'integration') },
      ...{ from: 'queued', fromReason: null, to: 'consumed', reason: 'withdrawn' },
    })
    hint(context, { kind: 'turn', id })
    return id
  })
}

/**
 * Also erases messages kept only as context for a later turn: overheard ones, and those to a person in a takeover.
 */
function* forgetHeard(
  context: VerbContext,
  key: readonly string[],
  isMeant: (row: Row) => boolean,
): Steps<void> {
  const heard = yield* rows(
    `SELECT seq, sender, edit_version FROM turns WHERE integration = $1 AND conversation = $2 AND message_id = $3
     AND (state = 'refused' OR (state = 'consumed' AND reason = 'held')) AND body IS NOT NULL ORDER BY seq @lock`,
    key,
  )
  const seqs = heard.filter(isMeant).map((row) => whole(row, 'seq'))
  if (seqs.length === 0) return
  yield* run('UPDATE turns SET body = NULL WHERE seq @any($1)', [seqs])
  erased(context, seqs)
}

function isAmong(version: number, versions: Extract<Effect, { kind: 'withdraw' }>['versions']): boolean {
  if (versions === undefined) return true
  return 'below' in versions ? version < versions.below : version !== versions.not
}

function erased(context: VerbContext, seqs: readonly number[]): void {
  const detail = { by: 'its sender', turns: toRanges(seqs) }
  recordFact(context, { kind: 'audit', ref: 'bodies', to: 'erased' }, detail)
}

/**
 * Platforms do not guarantee order. A message that was deleted before it arrived is stored as withdrawn, without its
 * text.
 */
export function* withdrawnBefore(items: readonly ReceiveItem[]): Steps<ReadonlySet<ReceiveItem>> {
  const asked = items.filter((item) => item.mayBeDeleted && item.state === 'queued')
  if (asked.length === 0) return NONE
  const found = yield* rows(
    `SELECT integration, conversation, message_id, sender FROM turns
     WHERE integration @any($1) AND conversation @any($2) AND message_id @any($3) AND edit_version = $4`,
    [
      [...new Set(asked.map(({ turn }) => turn.at.integration))],
      [...new Set(asked.map(({ turn }) => turn.at.conversation))],
      [...new Set(asked.map(({ turn }) => turn.messageId))],
      DELETED_VERSION,
    ],
  )
  if (found.length === 0) return NONE
  const deletedBy = new Map(
    found.map((row) => [
      keyOf(text(row, 'integration'), text(row, 'conversation'), text(row, 'message_id')),
      text(row, 'sender'),
    ]),
  )
  return new Set(
    asked.filter(({ turn }) => {
      const by = deletedBy.get(keyOf(turn.at.integration, turn.at.conversation, turn.messageId))
      return by !== undefined && (by === '' || by === turn.sender)
    }),
  )
}

const NONE: ReadonlySet<ReceiveItem> = new Set()

const keyOf = (...parts: readonly string[]) => JSON.stringify(parts)

/** Returns the item as it is stored: its existence without its content. */
export function asWithdrawn(item: ReceiveItem): ReceiveItem {
  const { claims: _route, ...rest } = item
  const kind = item.turn.body?.kind ?? 'message'
  const turn = { ...item.turn, body: { kind, text: '' } }
  return { ...rest, turn, state: 'consumed', reason: 'withdrawn', effects: [] }
}
