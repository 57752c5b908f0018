// Attempts to read external input (a mail). An attempt is counted before it begins and deleted when it succeeds. So an
// input that killed its worker or the whole daemon is recognised by its count.
import { firstRow, run, type Steps, whole } from '../../statement.ts'
import { oneByOne, type Verb } from '../../verb-context.ts'

export interface TriedInput {
  readonly integration: string
  readonly input: string
}

/** An input that was never read again is forgotten after a month. */
const KEPT_MS = 30 * 24 * 3_600_000

/** Returns the number of attempts, including this one. */
export const beginTry: Verb<TriedInput, number> = oneByOne(function* (
  { now },
  { integration, input },
): Steps<number> {
  yield* run(
    `INSERT INTO input_tries (integration, input, tries, at) VALUES ($1, $2, 1, $3)
     ON CONFLICT (integration, input) DO UPDATE SET tries = input_tries.tries + 1, at = excluded.at`,
    [integration, input, now],
  )
  const row = yield* firstRow('SELECT tries FROM input_tries WHERE integration = $1 AND input = $2', [
    ...[integration, input],
  ])
  return row ? whole(row, 'tries') : 1
})

export const endTry: Verb<TriedInput, void> = oneByOne(function* (
  { now },
  { integration, input },
): Steps<void> {
  yield* run('DELETE FROM input_tries WHERE (integration = $1 AND input = $2) OR at < $3', [
    ...[integration, input, now - KEPT_MS],
  ])
})
