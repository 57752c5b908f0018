// The digest of a configuration: equal meaning, equal digest, on every node. Secrets take part as references only.
import { createHash } from 'node:crypto'

/** SHA-256 (hex) over the canonical JSON of plain data. */
export function digestOf(data: unknown): string {
  return createHash('sha256').update(canonical(data)).digest('hex')
}

/** JSON with sorted keys and without undefined members. */
function canonical(data: unknown): string {
  if (Array.isArray(data)) return `[${data.map((item) => canonical(item ?? null)).join(',')}]`
  if (data !== null && typeof data === 'object') {
    const members = Object.entries(data)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, value]) => `${JSON.stringify(key)}:${canonical(value)}`)
    return `{${members.join(',')}}`
  }
  if (typeof data === 'number' && !Number.isFinite(data)) return JSON.stringify(String(data))
  return JSON.stringify(data ?? null)
}
