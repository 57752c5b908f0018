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
    const from = data as Readonly<Record<string, unknown>>
    let members = ''
    for (const key of Object.keys(from).sort()) {
      const value = from[key]
      if (value === undefined) continue
      members += `${members === '' ? '' : ','}${JSON.stringify(key)}:${canonical(value)}`
    }
    return `{${members}}`
  }
  if (typeof data === 'number' && !Number.isFinite(data)) return JSON.stringify(String(data))
  return JSON.stringify(data ?? null)
}
