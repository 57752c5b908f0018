// The position of a stream's reader: everything up to a row, except rows that were still pending.
//
// Positions are those of outbox rows, and a row may be sent later than its neighbours (a reminder, a slow lane). So the
// id of an event is the highest position seen, followed by the holes below it: `12`, or `12-7-9`. A reader that returns
// with it gets exactly what it missed. The server stores nothing about the reader.

export interface Position {
  upTo: number
  readonly holes: Set<number>
}

/** The most holes in an id. */
export const MAX_HOLES = 200

/**
 * Returns the position with as many holes as fit into an id, in order. With more holes it is an earlier position: its
 * reader sees some rows twice, and misses none.
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

/** Returns null if `formatPosition` does not produce this text, so an invented id is refused. */
export function parsePosition(text: string): Position | null {
  if (!/^\d{1,15}(?:-\d{1,15}){0,200}$/.test(text)) return null
  const [upTo = 0, ...holes] = text.split('-').map(Number)
  const at = { upTo, holes: new Set(holes.filter((hole) => hole <= upTo)) }
  return formatPosition(at) === text ? at : null
}
