// Equal content to the same place: a key leads to the latest send of a content, and the state of that row decides.
// Nothing is recorded before a platform confirmed, so a failed send never blocks its retry.
import { rowId, type SendState } from '../../../contract/index.ts'
import { firstRow, type InsertShape, insert, run, type Steps, text, whole } from '../../statement.ts'
import type { VerbContext } from '../../verb-context.ts'

/** How long a confirmed send prevents an equal one. */
const DEDUP_MS = 30_000
/** Keys outlive every retry of their send. */
const KEY_LIFE_MS = 24 * 3_600_000

const KEY_INSERT: InsertShape = {
  table: 'send_keys',
  columns: ['content', 'send', 'at'],
  numbers: ['send', 'at'],
  conflict: 'ON CONFLICT (content) DO NOTHING',
  identity: 'content',
}

/** Creates the rows of the keys in one order. Two nodes with the same content wait for each other here. */
export function* prepareKeys(context: VerbContext, keys: readonly string[]): Steps<void> {
  if (keys.length === 0) return
  yield* run('DELETE FROM send_keys WHERE at < $1', [context.now - KEY_LIFE_MS])
  const sorted = [...new Set(keys)].sort()
  yield* insert(
    KEY_INSERT,
    sorted.map((key) => [key, 0, context.now]),
  )
}

export type Twin =
  | { readonly is: 'open'; readonly seq: number; readonly id: string; readonly state: SendState }
  | { readonly is: 'confirmed'; readonly id: string; readonly platformIds: string }

/** Returns the equal send that is on its way or was just confirmed. Failed and unknown ones do not count. */
export function* twinOf(context: VerbContext, key: string): Steps<Twin | null> {
  const known = yield* firstRow('SELECT send FROM send_keys WHERE content = $1 @lock', [key])
  const seq = known ? whole(known, 'send') : 0
  if (seq === 0) return null
  const row = yield* firstRow('SELECT state, updated_at, platform_ids FROM outbox WHERE seq = $1', [seq])
  if (!row) return null
  const id = rowId('o', context.tag, seq)
  const state = text(row, 'state') as SendState
  if (state === 'queued' || state === 'sending') return { is: 'open', seq, id, state }
  const fresh = state === 'sent' && context.now - whole(row, 'updated_at') <= DEDUP_MS
  return fresh ? { is: 'confirmed', id, platformIds: text(row, 'platform_ids') || '[]' } : null
}

export function* keyLeadsTo(context: VerbContext, key: string, seq: number): Steps<void> {
  yield* run('UPDATE send_keys SET send = $2, at = $3 WHERE content = $1', [key, seq, context.now])
}
