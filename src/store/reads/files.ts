// Reads a stored file part by part. Each statement carries at most one part.
import { bytesOf, firstRow, type Steps, whole } from '../statement.ts'

/** Returns null when the file does not exist, or when a part is already deleted. Needs one snapshot for all parts. */
export function* readFile(integration: string, name: string): Steps<Uint8Array | null> {
  const found: Uint8Array[] = []
  for (let part = 0, parts = 1; part < parts; part++) {
    const row = yield* firstRow(
      'SELECT parts, bytes FROM files WHERE integration = $1 AND name = $2 AND part = $3',
      [integration, name, part],
    )
    if (!row) return null
    parts = whole(row, 'parts')
    found.push(bytesOf(row, 'bytes'))
  }
  return Buffer.concat(found)
}

export function* readFileTime(integration: string, name: string): Steps<number | null> {
  const row = yield* firstRow('SELECT at FROM files WHERE integration = $1 AND name = $2 AND part = 0', [
    integration,
    name,
  ])
  return row ? whole(row, 'at') : null
}
