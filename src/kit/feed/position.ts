// Where a reader of a stream is: everything up to a position, except the rows that were still on their way.
//
// Positions are those of outbox rows, and a row may be sent later than its neighbours (a reminder, a slow lane). So the
// id of an event is the highest position seen, followed by the holes below it: `12`, or `12-7-9`. A reader that comes
// back with it gets exactly what it has not had. The server remembers nothing about the reader.

export interface Position {
  upTo: number
  readonly holes: Set<number>
}

/** Holes that fit into an id. */
export const MAX_HOLES = 200

/**
 * The position with as many holes as fit into an id, in order. With more holes it is an earlier position: its reader sees
 * some rows twice, and misses none.
 */
export function fitHoles(
  upTo: number,
  holes: Iterable<number>,
): { readonly upTo: number; readonly holes: readonly number[] } {
  const sorted = [...holes].sort((a, b) => a - b)
  const beyond = sorted[MAX_HOLES]
  return { upTo: beyond === undefined ? upTo : beyond - 1, holes: sorted.slice(0, MAX_HOLES) }
}

export function formatPosition(at: Position): string {
  const { upTo, holes } = fitHoles(at.upTo, at.holes)
  return [upTo, ...holes].join('-')
}

/** Null when `formatPosition` does not give this text, so an invented id is refused. */
export function parsePosition(text: string): Position | null {
  if (!/^\d{1,15}(?:-\d{1,15}){0,200}$/.test(text)) return null
  const [upTo = 0, ...holes] = text.split('-').map(Number)
  const at = { upTo, holes: new Set(holes.filter((hole) => hole <= upTo)) }
  return formatPosition(at) === text ? at : null
}
