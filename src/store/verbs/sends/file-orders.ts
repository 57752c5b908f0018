// Orders to delete the files of an erased person. Each node has copies on its own disk, and the references to them are
// erased with the bodies. An order names files by the platform's references, never by their own names, and is kept for
// 90 days.
import type { FileOrder } from '../../../contract/index.ts'
import { rows, run, type Steps, text } from '../../statement.ts'
import { oneByOne, type Verb } from '../../verb-context.ts'

/** A node that was away for longer must be cleaned by hand. */
const KEPT_MS = 90 * 24 * 3_600_000
const ID_BYTES = 12

/** Writes an order. This node has already carried it out. */
export const keepFileOrder: Verb<Omit<FileOrder, 'id'>, void> = oneByOne(function* (
  { node, now, random },
  { integration, sender, refs },
): Steps<void> {
  const id = Buffer.from(random.bytes(ID_BYTES)).toString('hex')
  yield* run('INSERT INTO file_orders (id, integration, sender, refs, at) VALUES ($1, $2, $3, $4, $5)', [
    ...[id, integration, sender, JSON.stringify(refs), now],
  ])
  yield* run('INSERT INTO file_orders_done (id, node) VALUES ($1, $2)', [id, node])
  const old = yield* rows('SELECT id FROM file_orders WHERE at < $1', [now - KEPT_MS])
  const ids = old.map((row) => text(row, 'id'))
  if (ids.length === 0) return
  yield* run('DELETE FROM file_orders WHERE id @any($1)', [ids])
  yield* run('DELETE FROM file_orders_done WHERE id @any($1)', [ids])
})

export const doneFileOrder: Verb<string, void> = oneByOne(function* ({ node }, id) {
  yield* run('INSERT INTO file_orders_done (id, node) VALUES ($1, $2) ON CONFLICT (id, node) DO NOTHING', [
    ...[id, node],
  ])
})

/** Returns the orders that this node has not carried out, oldest first. */
export function* readFileOrders(node: string): Steps<readonly FileOrder[]> {
  const found = yield* rows(
    `SELECT id, integration, sender, refs FROM file_orders o
     WHERE NOT EXISTS (SELECT 1 FROM file_orders_done d WHERE d.id = o.id AND d.node = $1) ORDER BY at, id`,
    [node],
  )
  return found.map((row) => ({
    id: text(row, 'id'),
    integration: text(row, 'integration'),
    sender: text(row, 'sender'),
    refs: JSON.parse(text(row, 'refs')) as readonly string[],
  }))
}
