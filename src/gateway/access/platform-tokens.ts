// The token table as one integration's platform sees it: the one authorize decides which rows open its door, and what
// it mints is good for this integration only.
import type { TokenList } from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'

export function createPlatformTokens(tokens: TokenList, integration: string): TokenList {
  const find: TokenList['find'] = async (token) => {
    const row = await tokens.find(token)
    if (row === null) return null
    const { integration: id = '', sender = '' } = row.scope
    const who = { kind: 'integration', id, sender } as const
    return authorize(who, 'chat.talk', { kind: 'integration', id: integration }).allowed ? row : null
  }
  return {
    find,
    mint: (order) => tokens.mint({ ...order, scope: { ...order.scope, integration } }),
    // Looked at first: what is not ours must not be used up by us.
    consume: async (token) => ((await find(token)) === null ? null : tokens.consume(token)),
  }
}
