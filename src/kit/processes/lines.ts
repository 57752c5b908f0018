// Splits the bytes of a pipe into lines with bounded memory. A line over the limit is skipped to its end and counted
// once.
export interface Lines {
  push(chunk: Buffer): void
  /** The pipe ended. Returns the rest of the last line. */
  end(): string
}

export function createLines(maxBytes: number, on: { line(text: string): void; tooLong(): void }): Lines {
  let parts: Buffer[] = []
  let size = 0
  let skipping = false
  const take = (): string => {
    const text =
      parts.length === 1 ? (parts[0] as Buffer).toString('utf8') : Buffer.concat(parts).toString('utf8')
    parts = []
    size = 0
    return text
  }
  return {
    push(chunk) {
      let from = 0
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        if (skipping) skipping = false
        else {
          parts.push(chunk.subarray(from, at))
          on.line(take())
        }
        from = at + 1
      }
      if (skipping || from === chunk.length) return
      parts.push(chunk.subarray(from))
      size += chunk.length - from
      if (size <= maxBytes) return
      parts = []
      size = 0
      skipping = true
      on.tooLong()
    },
    end: () => (parts.length === 0 ? '' : take()),
  }
}
