// Recording the use of tokens: in batches, seldom, and only for tokens whose use matters.
import { expect, it } from 'vitest'
import type { TokenRow } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { createTokenUse } from './token-use.ts'
import { createTokens } from './tokens.ts'

function setUp() {
  const clock = createTestClock(1_700_000_000_000)
  const rows = new Map<string, TokenRow>()
  const writes: string[][] = []
  let away = false
  const store = {
    addToken: async (token: Omit<TokenRow, 'createdAt' | 'revokedAt' | 'lastUsedAt'>) =>
      void rows.set(token.hash, { ...token, createdAt: clock.now(), revokedAt: null, lastUsedAt: null }),
    tokenByHash: async (hash: string) => rows.get(hash) ?? null,
    revokeToken: async (id: string) => {
      for (const row of rows.values())
        if (row.id === id) rows.set(row.hash, { ...row, revokedAt: clock.now() })
      return true
    },
    tokensUsed: async (uses: readonly { id: string; at: number }[]) => {
      if (away) throw new Error('away')
      writes.push(uses.map(({ id }) => id))
      for (const { id, at } of uses)
        for (const row of rows.values()) if (row.id === id) rows.set(row.hash, { ...row, lastUsedAt: at })
    },
  }
  const log = createRecordingLog()
  const use = createTokenUse({ store, clock, log })
  const tokens = createTokens(store, clock, createTestRandom('use'), use.used)
  const lose = (lost: boolean) => {
    away = lost
  }
  return { clock, writes, tokens, use, lose, log }
}

it('[I14.token-use] is written after the request, together, and once an hour at most', async () => {
  const { clock, writes, tokens } = setUp()
  const mint = (scope: Record<string, string>) => tokens.mint({ kind: 'agent', scope, ttlMs: null })
  const [one, two] = [await mint({ agent: 'kate' }), await mint({ agent: 'leo' })]
  for (let n = 0; n < 50; n += 1) await tokens.find(one.token)
  await tokens.look(two.token)
  expect(writes).toEqual([])
  await clock.advance(60_000)
  expect(writes).toEqual([[one.id, two.id]])
  for (let minute = 0; minute < 30; minute += 1) {
    await tokens.find(one.token)
    await clock.advance(60_000)
  }
  expect(writes).toHaveLength(1)
  await clock.advance(3_600_000)
  await tokens.find(one.token)
  await clock.advance(60_000)
  expect(writes.slice(1)).toEqual([[one.id]])
})

it('[I14.token-use] what opened nothing, and what lives for a turn or a day, is not noted', async () => {
  const { clock, writes, tokens, use } = setUp()
  const mint = (scope: Record<string, string>, ttlMs: number | null) =>
    tokens.mint({ kind: 'agent', scope, ttlMs })
  const revoked = await mint({}, null)
  await tokens.revoke(revoked.id, 'op')
  const turn = await mint({ turn: 't1' }, null)
  const brief = await mint({}, 86_400_000)
  for (const { token } of [revoked, turn, brief]) await tokens.find(token)
  await tokens.find('agent_made-up')
  await clock.advance(120_000)
  await use.stop()
  expect(writes).toEqual([])
})

it('[I14.token-use] a stop writes what waits; a store that is away costs the note and no request', async () => {
  const { clock, writes, tokens, use, lose, log } = setUp()
  const { token, id } = await tokens.mint({ kind: 'agent', scope: {}, ttlMs: null })
  lose(true)
  expect(await tokens.find(token)).not.toBeNull()
  await clock.advance(60_000)
  expect([writes, log.lines.join()]).toEqual([[], expect.stringContaining('could not be noted')])
  lose(false)
  await tokens.find(token)
  await use.stop()
  expect(writes).toEqual([[id]])
})
