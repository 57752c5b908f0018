// How far a mailbox was read, as the cursor that is stored with the mails: its numbering, the last mail, where the last
// batch began (its after-care may have been interrupted), and the time from which mails are ours to read.

export interface Position {
  readonly uidValidity: string
  readonly uid: number
  readonly batchFrom: number
  readonly since: number
  /** Mails up to this one were renumbered. Of those, only mails after `since` are read. 0: never. */
  readonly renumbered: number
}

export function writePosition({ uidValidity, uid, batchFrom, since, renumbered }: Position): string {
  return JSON.stringify({ v: uidValidity, u: uid, f: batchFrom, t: since, r: renumbered })
}

/** Null: there is none, or it cannot be read, so reading begins anew. */
export function readPosition(cursor: string | null): Position | null {
  if (cursor === null) return null
  try {
    const { v, u, f, t, r } = JSON.parse(cursor) as Record<string, unknown>
    if (typeof v !== 'string' || !isCount(u) || !isCount(f) || !isCount(t) || !isCount(r)) return null
    return { uidValidity: v, uid: u, batchFrom: f, since: t, renumbered: r }
  } catch {
    return null
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
