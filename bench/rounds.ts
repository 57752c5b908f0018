// Limits the duration of each part of a run. A part gets as many of its rounds as fit into its time, and the report
// says where there were fewer.

/** A part begins no round that would likely end after this. With its start and end it stays under five minutes. */
export const PART_LIMIT_MS = 4 * 60_000

export interface PartRun {
  readonly part: string
  readonly seconds: number
  /** The rounds of the loop with the fewest. Null for a part without rounds. */
  readonly rounds: number | null
  readonly wanted: number | null
}

export interface Rounds {
  readonly runs: readonly PartRun[]
  /** Runs a part and notes its time. */
  during<Result>(part: string, work: () => Promise<Result> | Result): Promise<Result>
  /** Yields round numbers from 0. `share` limits them to a part of the time, if more work follows. */
  of(wanted: number, share?: number): Generator<number>
  /** The remaining time of the part. */
  leftMs(): number
}

export function createRounds(
  say: (text: string) => void,
  now: () => number = () => performance.now(),
): Rounds {
  const runs: PartRun[] = []
  let began = now()
  let part = ''
  let fewest: { readonly rounds: number; readonly wanted: number } | null = null

  const note = (rounds: number, wanted: number) => {
    if (fewest === null || rounds < fewest.rounds) fewest = { rounds, wanted }
    if (rounds < wanted) say(`${part}: its time allows ${rounds} of ${wanted} rounds`)
  }
  return {
    runs,
    async during(name, work) {
      began = now()
      part = name
      fewest = null
      const result = await work()
      const { rounds, wanted } = fewest ?? { rounds: null, wanted: null }
      runs.push({ part, seconds: Math.round((now() - began) / 1000), rounds, wanted })
      return result
    },
    *of(wanted, share = 1) {
      let longest = 0
      let round = 0
      for (; round < wanted; round++) {
        if (round > 0 && now() - began + longest > PART_LIMIT_MS * share) break
        const startedAt = now()
        yield round
        longest = Math.max(longest, now() - startedAt)
      }
      note(round, wanted)
    },
    leftMs: () => PART_LIMIT_MS - (now() - began),
  }
}
