// Finds the tests that reach a place of the code, from the records of the first run.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The places that one test file reaches. */
export interface Reach {
  readonly file: string
  /** The places reached during loading and set-up. All of its tests reach them. */
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

/** Returns the tests that reach a place, the quickest first. */
export function testsReaching(place: string, reaches: readonly Reach[]): readonly ReachingTest[] {
  return reaches
    .flatMap(({ file, always, tests }) =>
      tests
        .filter(({ places }) => places.includes(place) || always.includes(place))
        .map(({ name, ms }) => ({ file, name, ms })),
    )
    .sort((a, b) => a.ms - b.ms)
}
