// Where a reader of the stream is: everything up to a position, except the rows that were still on their way.
//
// Positions are those of outbox rows, and a row may be sent later than its neighbours (a reminder, a slow lane). So the
// id of an event is the highest position seen, followed by the holes below it: `12`, or `12-7-9`. A reader that comes
// back with it gets exactly what it has not had, in memory of nobody but itself.

export interface Position {
  upTo: number
  readonly holes: Set<number>
}

/** Holes that fit into an id. Beyond that the reader is told an earlier position: it may see some twice, none never. */
const MAX_HOLES = 200

export function formatPosition(at: Position): string {
  if (at.holes.size === 0) return String(at.upTo)
  const holes = [...at.holes].sort((a, b) => a - b)
  const first = holes[MAX_HOLES]
  return (first === undefined ? [at.upTo, ...holes] : [first - 1, ...holes.slice(0, MAX_HOLES)]).join('-')
}

/** Null when the text is none that `formatPosition` gives: whoever made it up is told so. */
export function parsePosition(text: string): Position | null {
  if (!/^\d{1,15}(?:-\d{1,15}){0,200}$/.test(text)) return null
  const [upTo = 0, ...holes] = text.split('-').map(Number)
  const at = { upTo, holes: new Set(holes.filter((hole) => hole <= upTo)) }
  return formatPosition(at) === text ? at : null
}
