// Computes the edit version of a duplicate key from the parts that distinguish two messages with the same id.
import { hash } from 'node:crypto'

/** Returns 48 bits of a digest: equal parts give equal numbers. Never 0, which is the number of a first version. */
export function versionOf(...parts: readonly string[]): number {
  return Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, 12), 16) || 1
}
