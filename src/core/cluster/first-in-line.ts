// Chooses which of several nodes goes first for a lane, by rendezvous hashing. Every node computes the same answer, and
// lanes spread evenly. When a node leaves, only its own lanes change.

/** Returns the name that wins for this key, or '' when there are no names. */
export function firstInLine(key: string, names: readonly string[]): string {
  let best = ''
  let bestScore = -1
  for (const name of names) {
    const score = scoreOf(`${key}\n${name}`)
    if (score > bestScore) {
      best = name
      bestScore = score
    }
  }
  return best
}

/** FNV-1a with a final mix, so that names that differ in one letter get distant scores. */
function scoreOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash ^= text.charCodeAt(at)
    hash = Math.imul(hash, 0x01000193)
  }
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
