// Splits bytes into lines, with a limit, so that an endless line does not fill the memory.

export interface FrameLines {
  /** Returns the lines that this chunk completes. Throws when a line is over the limit. */
  push(chunk: Buffer): readonly string[]
}

export function createFrameLines(maxBytes: number): FrameLines {
  let parts: Buffer[] = []
  let waiting = 0
  return {
    push(chunk) {
      const lines: string[] = []
      let from = 0
      for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
        const last = chunk.subarray(from, end)
        if (waiting + last.length > maxBytes) throw new RangeError(`a line is over ${maxBytes} bytes`)
        const line = parts.length === 0 ? last : Buffer.concat([...parts, last])
        parts = []
        waiting = 0
        from = end + 1
        if (line.length > 0) lines.push(line.toString('utf8'))
      }
      const rest = chunk.subarray(from)
      waiting += rest.length
      if (waiting > maxBytes) throw new RangeError(`a line is over ${maxBytes} bytes`)
      if (rest.length > 0) parts.push(rest)
      return lines
    },
  }
}
