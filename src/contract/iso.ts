// Times for people and scripts: ISO 8601, in UTC.
export function iso(at: number): string {
  return new Date(at).toISOString()
}

export function isoOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : iso(at)
}
