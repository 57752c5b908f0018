// A platform sees the tokens of its own integration and no others.
import { expect, it } from 'vitest'
import type { TokenList } from '../../contract/index.ts'
import { createPlatformTokens } from './platform-tokens.ts'

it('[S1.authorize-one] the one authorize decides for /chat, too: a token opens its own integration and is not used up by another', async () => {
  const rows = new Map<string, { id: string; kind: string; scope: Record<string, string> }>()
  const table: TokenList = {
    async mint({ kind, scope }) {
      rows.set(`${kind}_1`, { id: 'tok_1', kind, scope })
      return { token: `${kind}_1`, id: 'tok_1', expiresAt: null }
    },
    find: async (token) => rows.get(token) ?? null,
    async consume(token) {
      const row = rows.get(token) ?? null
      rows.delete(token)
      return row
    },
  }
  rows.set('agent_1', { id: 'tok_a', kind: 'agent', scope: { agent: 'demo' } })
  const [web, other] = [createPlatformTokens(table, 'web'), createPlatformTokens(table, 'other')]
  const scope = { integration: 'other', sender: 'owner' }
  const { token } = await web.mint({ kind: 'web', scope, ttlMs: null })
  expect(await web.find(token)).toMatchObject({ scope: { integration: 'web', sender: 'owner' } })
  expect(await web.find('agent_1')).toBeNull()
  expect(await web.find('unknown')).toBeNull()
  expect([await other.find(token), await other.consume(token)]).toEqual([null, null])
  expect(await web.consume(token)).not.toBeNull()
  expect(await web.consume(token)).toBeNull()
  expect(await web.consume('agent_1')).toBeNull()
  expect(rows.has('agent_1')).toBe(true)
})
