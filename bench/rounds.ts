// How long the parts of a run take: each gets as many rounds as were asked for and fit into its time, and it is told where
// that were fewer.

/** A part begins no round that would likely end after this: with its start and its end it stays under five minutes. */
export const PART_LIMIT_MS = 4 * 60_000

export interface PartRun {
  readonly part: string
  readonly seconds: number
  /** Of the loop that got the fewest; null where a part has none. */
  readonly rounds: number | null
  readonly wanted: number | null
}

export interface Rounds {
  readonly runs: readonly PartRun[]
  /** Runs a part and notes its time. */
  during<Result>(part: string, work: () => Promise<Result> | Result): Promise<Result>
  /** Numbers of rounds from 0. `share`: of the part's time, where more is to come after it. */
  of(wanted: number, share?: number): Generator<number>
  /** What is left of the part's time. */
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
