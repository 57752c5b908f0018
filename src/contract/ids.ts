// Ids: session UUIDs (v5, the same after a restart and on every node), and row ids that contain their position.
import { createHash } from 'node:crypto'

const SESSION_NAMESPACE = Buffer.from('6f1c2a5e9d0b5c3e8a77b1f04d9e2c61', 'hex')

/** Returns the session's UUID. It is derived from key and generation, so every node computes the same one. */
export function sessionId(key: string, generation: number): string {
  const hash = createHash('sha1').update(SESSION_NAMESPACE).update(`${generation}:${key}`).digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex', 0, 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/**
 * Returns a row's public id: kind, the store's tag, position. It needs no index, sorts by age, and the tag separates
 * ids of two stores.
 */
export function rowId(kind: 't' | 'o', tag: string, seq: number): string {
  return `${kind}_${tag}_${seq.toString(36)}`
}

/** Returns the position in an id made by `rowId`, or null when the id is not from this store. */
export function rowSeq(kind: 't' | 'o', tag: string, id: string): number | null {
  const prefix = `${kind}_${tag}_`
  return id.startsWith(prefix) ? positionIn(id.slice(prefix.length)) : null
}

/** Returns the position without a check of the store's tag. */
export function rowPosition(id: string): number | null {
  return positionIn(id.slice(id.lastIndexOf('_') + 1))
}

function positionIn(text: string): number | null {
  if (!/^[0-9a-z]{1,11}$/.test(text)) return null
  const seq = Number.parseInt(text, 36)
  return Number.isSafeInteger(seq) && seq.toString(36) === text ? seq : null
}
