// drawTokens where one node writes: the same buckets, read and written in its commit.
import type { Store } from '../../contract/index.ts'
import { firstRow, run, type Steps, text, whole } from '../statement.ts'
import { oneByOne, type VerbContext } from '../verb-context.ts'

type Draws = Parameters<Store['drawTokens']>[0]
type Drawn = Awaited<ReturnType<Store['drawTokens']>>

export const drawTokens = oneByOne(function* (context: VerbContext, draws: Draws): Steps<Drawn> {
  const drawn: { granted: number; retryAfterMs: number }[] = []
  for (const { key, rps, burst, take } of draws) {
    const row = yield* firstRow('SELECT tokens, at FROM buckets WHERE name = $1', [key])
    const gained = row ? (Math.max(0, context.now - whole(row, 'at')) * rps) / 1000 : burst
    const refilled = Math.min(burst, (row ? Number(text(row, 'tokens')) : 0) + gained)
    const granted = refilled >= 1 ? Math.min(take, Math.floor(refilled)) : 0
    const tokens = refilled - granted
    yield* run(
      `INSERT INTO buckets (name, tokens, granted, at) VALUES ($1, $2, $3, $4) ON CONFLICT (name)
       DO UPDATE SET tokens = excluded.tokens, granted = excluded.granted, at = excluded.at`,
      [key, tokens, granted, context.now],
    )
    drawn.push({ granted, retryAfterMs: Math.max(1, Math.ceil(((1 - tokens) / rps) * 1000)) })
  }
  return drawn
})
