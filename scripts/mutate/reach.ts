// Which tests reach which place of the code: read from what the first run wrote down, and asked for each mutant.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What one test file reaches. */
export interface Reach {
  readonly file: string
  /** While it loads and prepares: by all of its tests. */
  readonly always: readonly string[]
  readonly tests: readonly {
    readonly name: string
    readonly ms: number
    readonly places: readonly string[]
  }[]
}

export interface ReachingTest {
  readonly file: string
  readonly name: string
  readonly ms: number
}

export function readReach(folder: string): readonly Reach[] {
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Reach)
}

/** The tests that reach a place, the quickest first. */
export function testsReaching(place: string, reaches: readonly Reach[]): readonly ReachingTest[] {
  return reaches
    .flatMap(({ file, always, tests }) =>
      tests
        .filter(({ places }) => places.includes(place) || always.includes(place))
        .map(({ name, ms }) => ({ file, name, ms })),
    )
    .sort((a, b) => a.ms - b.ms)
}
