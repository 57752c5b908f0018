// The grammar of IMAP as clients use it. It cuts commands with their literals out of a stream and parses their words.

export type Word = string | readonly Word[]

export interface Command {
  readonly tag: string
  readonly name: string
  readonly words: readonly Word[]
}

const MOST_LINE = 65_536
const MOST_LITERAL = 64 * 1_048_576
const MOST_DEPTH = 20

/** Throws for a line or literal that is too long. The caller then ends the connection. */
export function createCommandReader(on: {
  command(line: string): void
  wantsLiteral(): void
}): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  let said = ''
  /** The remaining bytes of a literal. Null while the reader reads a line. */
  let open: number | null = null
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    for (;;) {
      if (open !== null) {
        if (rest.length < open) return
        // latin1 keeps each byte, because a mail is not decoded here.
        said += quoted(rest.subarray(0, open).toString('latin1'))
        rest = rest.subarray(open)
        open = null
        continue
      }
      const end = rest.indexOf('\r\n')
      if (end < 0) {
        if (rest.length > MOST_LINE) throw new Error('a line without an end')
        return
      }
      const line = rest.subarray(0, end).toString('latin1')
      rest = rest.subarray(end + 2)
      const [whole, size, plus] = /\{(\d{1,9})(\+?)\}$/.exec(line) ?? []
      if (whole === undefined) {
        const command = said + line
        said = ''
        on.command(command)
        continue
      }
      open = Number(size)
      if (open > MOST_LITERAL) throw new Error('a literal that is too large')
      said += line.slice(0, -whole.length)
      if (plus === '') on.wantsLiteral()
    }
  }
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}

export function parseCommand(line: string): Command {
  const [tag = '', name = '', ...rest] = readWords(line)
  const [second] = rest
  const isUid = typeof name === 'string' && name.toUpperCase() === 'UID' && typeof second === 'string'
  return {
    tag: typeof tag === 'string' ? tag : '*',
    name: isUid ? `UID ${second.toUpperCase()}` : String(name).toUpperCase(),
    words: isUid ? rest.slice(1) : rest,
  }
}

/** Parses atoms, quoted strings and lists. Text in square brackets belongs to its atom. */
function readWords(line: string): readonly Word[] {
  const stack: Word[][] = [[]]
  let at = 0
  const put = (word: Word) => stack.at(-1)?.push(word)
  while (at < line.length) {
    const char = line[at] ?? ''
    if (char === ' ') at += 1
    else if (char === '(') {
      if (stack.length > MOST_DEPTH) throw new Error('nested too deep')
      stack.push([])
      at += 1
    } else if (char === ')') {
      const closed = stack.length > 1 ? stack.pop() : undefined
      if (closed === undefined) throw new Error('a ) too many')
      put(closed)
      at += 1
    } else if (char === '"') {
      let text = ''
      for (at += 1; at < line.length && line[at] !== '"'; at++) {
        if (line[at] === '\\') at += 1
        text += line[at] ?? ''
      }
      put(text)
      at += 1
    } else {
      const from = at
      let depth = 0
      for (; at < line.length; at++) {
        const one = line[at] ?? ''
        if (one === '[') depth += 1
        else if (one === ']') depth -= 1
        else if (depth <= 0 && (one === ' ' || one === '(' || one === ')')) break
      }
      put(line.slice(from, at))
    }
  }
  return stack[0] ?? []
}

/** Tests a number against a set such as `1:5,9,12:*`. `most` is the value of `*`. */
export function inSet(set: string, most: number): (number: number) => boolean {
  const ranges = set.split(',').map((part) => {
    const [from, to = from] = part.split(':').map((one) => (one === '*' ? most : Number(one)))
    return [Math.min(from ?? 0, to ?? 0), Math.max(from ?? 0, to ?? 0)] as const
  })
  return (number) => ranges.some(([from, to]) => number >= from && number <= to)
}
