// The header block of a mail as a list of fields from top to bottom, as the last server wrote them. Gates check it
// before the mail is fetched. It is read once, line by line.

export interface HeaderField {
  /** Lower-case. */
  readonly name: string
  /** Unfolded, not decoded. */
  readonly value: string
}

/** A longer header block is cut here. */
export const MOST_HEADER_BYTES = 262_144
const MOST_FIELDS = 2_000
const FIELD = /^([!-9;-~]{1,200})[ \t]*:(.*)$/s

export function readHeaders(block: Uint8Array): readonly HeaderField[] {
  const fields: { name: string; lines: string[] }[] = []
  const text = Buffer.from(block.subarray(0, MOST_HEADER_BYTES)).toString('utf8')
  for (const line of text.split(/\r?\n/)) {
    if (line === '') break
    const last = fields.at(-1)
    if ((line.startsWith(' ') || line.startsWith('\t')) && last !== undefined) {
      last.lines.push(line.trim())
      continue
    }
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (name === undefined) continue
    if (fields.length >= MOST_FIELDS) break
    fields.push({ name: name.toLowerCase(), lines: [value.trim()] })
  }
  return fields.map(({ name, lines }) => ({ name, value: lines.join(' ').trim() }))
}

export function fieldsNamed(fields: readonly HeaderField[], name: string): readonly string[] {
  return fields.filter((field) => field.name === name).map(({ value }) => value)
}

export function fieldNamed(fields: readonly HeaderField[], name: string): string | undefined {
  return fields.find((field) => field.name === name)?.value
}
