// The shape of a requirement and the reader of the tables beside it: one line a promise, so a diff shows one promise.

export interface Requirement {
  /** Short and speaking; what a test cites in square brackets in its name. */
  readonly id: string
  readonly section: string
  /** One testable sentence. */
  readonly promise: string
  readonly status: 'built' | 'pending'
  /** The issue that builds it; 0: not planned yet. */
  readonly issue: number
}

const LINE = /^(built|pending)\s+(\d+)\s+(\S+)\s+(.+)$/

/** Reads a table of `status issue id promise` lines. Throws on a line that is none, with its number. */
export function requirements(section: string, table: string): readonly Requirement[] {
  return table.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    const [, status, issue, id, promise] = LINE.exec(line.trim()) ?? []
    if (status === undefined || id === undefined || promise === undefined) {
      throw new Error(`requirements of "${section}", line ${at}: "${line}" is not "status issue id promise"`)
    }
    return [{ id, section, promise, status: status === 'built' ? 'built' : 'pending', issue: Number(issue) }]
  })
}
