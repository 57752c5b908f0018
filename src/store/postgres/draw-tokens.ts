// drawTokens on PostgreSQL: buckets shared by all nodes. It is one statement and holds no other lock, so nodes that
// draw at once wait briefly and cannot deadlock. It is not part of a commit, because a token is not worth one.
import type { Store } from '../../contract/index.ts'
import type { Queryable } from './connection.ts'

type Draws = Parameters<NonNullable<Store['drawTokens']>>[0]
type Drawn = Awaited<ReturnType<NonNullable<Store['drawTokens']>>>

const REFILLED = 'least(d.burst, b.tokens + greatest(0, $5::bigint - b.at) * d.per_ms)'
const GRANTED = `CASE WHEN ${REFILLED} >= 1 THEN least(d.take, floor(${REFILLED})) ELSE 0 END`

// Clocks of nodes differ a little, and the later one counts. If a clock was set back further, the new time counts.
const AT = 'CASE WHEN b.at > $5::bigint + 5000 THEN $5::bigint ELSE greatest(b.at, $5::bigint) END'

// RETURNING cannot see a bucket's former value, so the row stores the granted tokens.
const DRAW = `WITH d AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::float8[], $3::float8[], $4::float8[]) AS d(name, burst, per_ms, take) ORDER BY name),
  fresh AS (
    INSERT INTO buckets (name, tokens, granted, at)
    SELECT name, burst, 0, $5::bigint FROM d WHERE NOT EXISTS (SELECT 1 FROM buckets b WHERE b.name = d.name)
    ON CONFLICT (name) DO NOTHING)
  UPDATE buckets b SET tokens = ${REFILLED} - ${GRANTED}, granted = ${GRANTED}, at = ${AT}
  FROM d WHERE b.name = d.name RETURNING b.name, b.granted, b.tokens`

export async function drawTokens(on: Queryable, draws: Draws, now: number): Promise<Drawn> {
  const answers = new Map<string, { granted: number; tokens: number }>()
  // The update does not see a bucket that the same statement creates. The second round draws from it.
  for (let round = 0, left = draws; left.length > 0 && round < 3; round++) {
    const { rows } = await on.query({
      text: DRAW,
      values: [
        left.map((draw) => draw.key),
        left.map((draw) => draw.burst),
        left.map((draw) => draw.rps / 1000),
        left.map((draw) => draw.take),
        now,
      ],
    })
    for (const row of rows as { name: string; granted: number; tokens: number }[])
      answers.set(row.name, { granted: Number(row.granted), tokens: Number(row.tokens) })
    left = left.filter((draw) => !answers.has(draw.key))
  }
  return draws.map(({ key, rps }) => {
    const { granted = 0, tokens = 0 } = answers.get(key) ?? {}
    return { granted, retryAfterMs: Math.max(1, Math.ceil(((1 - tokens) / rps) * 1000)) }
  })
}
