// Statements whose lists hold one value each. Searching a list costs more than the row it finds, most of all in an
// UPDATE, and a single message produces only such lists.
import type { Param } from '../statement.ts'

/** Returns the parameters that are only lists; empty if one of them is also used as a plain value. */
export function listsOf(sql: string): ReadonlySet<number> {
  const lists = placesOf(sql, /@any\(\$(\d+)\)/g)
  const all = placesOf(sql, /\$(\d+)/g)
  const isPlain = lists.every((nth) => countOf(all, nth) === countOf(lists, nth))
  return new Set(isPlain ? lists : [])
}

/** Returns the same statement for lists of one value. */
export function ofOneEach(sql: string): string {
  return sql.replace(/@any\((\$\d+)\)/g, '= $1')
}

/** Whether every list holds one value. False without lists. */
export function areSingle(lists: ReadonlySet<number>, params: readonly Param[]): boolean {
  if (lists.size === 0) return false
  for (const nth of lists) {
    const list = params[nth - 1]
    if (!Array.isArray(list) || list.length !== 1) return false
  }
  return true
}

function placesOf(sql: string, pattern: RegExp): readonly number[] {
  return [...sql.matchAll(pattern)].map(([, nth]) => Number(nth))
}

function countOf(all: readonly number[], one: number): number {
  return all.filter((other) => other === one).length
}
