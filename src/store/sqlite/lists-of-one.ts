// Statements that are given lists, when each list holds one value: to look through a list costs more than the row that it
// leads to, most of all in an UPDATE, and a lone message gives nothing but lists of one.
import type { Param } from '../statement.ts'

/** Which parameters stand for lists, and for nothing else; none where one of them stands for both. */
export function listsOf(sql: string): ReadonlySet<number> {
  const lists = placesOf(sql, /@any\(\$(\d+)\)/g)
  const all = placesOf(sql, /\$(\d+)/g)
  const isPlain = lists.every((nth) => countOf(all, nth) === countOf(lists, nth))
  return new Set(isPlain ? lists : [])
}

/** The same statement for lists of one. */
export function ofOneEach(sql: string): string {
  return sql.replace(/@any\((\$\d+)\)/g, '= $1')
}

/** False without lists. */
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
