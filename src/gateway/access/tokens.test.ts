// Token ids: ordered by creation, and unique.
import { expect, it } from 'vitest'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createTokens } from './tokens.ts'

const store = {
  addToken: async () => undefined,
  tokenByHash: async () => null,
  revokeToken: async () => false,
}

it('ids of tokens grow with the seconds, and chance tells apart those of one', async () => {
  const clock = createTestClock(1_700_000_000_000)
  const { prepare } = createTokens(store, clock, createTestRandom('ids'))
  const ids: string[] = []
  for (let second = 0; second < 40; second++) {
    for (let nth = 0; nth < 3; nth++) ids.push(prepare({ kind: 'agent', scope: {}, ttlMs: null }).row.id)
    await clock.advance(1_000)
  }
  const seconds = ids.map((id) => id.slice(0, 'tok_00000000'.length))
  expect(seconds).toEqual(seconds.toSorted())
  expect(new Set(seconds).size).toBe(40)
  expect(new Set(ids).size).toBe(120)
})
