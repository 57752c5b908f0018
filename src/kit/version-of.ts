// A number from what tells two messages with the same id apart: it goes into the duplicate key as the edit version.
import { hash } from 'node:crypto'

/** 48 bits of a digest: the same parts give the same number, others another one. Never 0, a first version's number. */
export function versionOf(...parts: readonly string[]): number {
  return Number.parseInt(hash('sha256', JSON.stringify(parts)).slice(0, 12), 16) || 1
}
