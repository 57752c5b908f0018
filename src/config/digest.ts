// The digest of a configuration: equal meaning, equal digest, on every node. Secrets take part as references only.
import { createHash, type Hash } from 'node:crypto'

/** SHA-256 (hex) over the canonical JSON of plain data. */
export function digestOf(data: unknown): string {
  return createHash('sha256').update(canonical(data)).digest('hex')
}

/** Entries of a list that are hashed between two pauses. */
const ENTRIES_AT_A_TIME = 100

/** The same for large data, with pauses between entries of its lists. */
export function* digestSteps(data: Readonly<Record<string, unknown>>): Generator<void, string> {
  const hash = createHash('sha256')
  let before = '{'
  for (const key of Object.keys(data).sort()) {
    const value = data[key]
    if (value === undefined) continue
    hash.update(`${before}${JSON.stringify(key)}:`)
    before = ','
    if (Array.isArray(value)) yield* updateList(hash, value)
    else hash.update(canonical(value))
  }
  return hash.update(before === '{' ? '{}' : '}').digest('hex')
}

function* updateList(hash: Hash, list: readonly unknown[]): Generator<void> {
  hash.update('[')
  for (let from = 0; from < list.length; from += ENTRIES_AT_A_TIME) {
    const lot = list.slice(from, from + ENTRIES_AT_A_TIME)
    hash.update(`${from === 0 ? '' : ','}${lot.map((item) => canonical(item ?? null)).join(',')}`)
    if (lot.length === ENTRIES_AT_A_TIME) yield
  }
  hash.update(']')
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
