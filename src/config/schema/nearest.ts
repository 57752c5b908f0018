// The nearest right word to a wrong one, for "did you mean".

/** The candidate with the smallest edit distance, if it is near enough to be a slip. */
export function nearest(wrong: string, candidates: Iterable<string>): string | null {
  const asked = wrong.slice(0, 64).toLowerCase()
  let best: string | null = null
  let bestDistance = Math.max(1, Math.floor(asked.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(asked, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours ("platfrom" is one slip away from "platform"). */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1)
      }
      row.push(cost)
    }
    before = last
    last = row
  }
  return last[b.length] ?? 0
}

/** ` — did you mean "x"?`, or the whole list when nothing is near and the list is short. */
export function suggestion(wrong: string, candidates: readonly string[]): string {
  const near = nearest(wrong, candidates)
  if (near !== null) return `did you mean "${near}"?`
  if (candidates.length === 0) return ''
  return candidates.length <= 24 ? `known here: ${candidates.join(', ')}` : ''
}
