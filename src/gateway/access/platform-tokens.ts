// The token table as one integration's platform sees it. `authorize` decides which rows it can find, and its new tokens
// are valid for this integration only.
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
    // Checked first, so that tokens of others are not used up.
    consume: async (token) => ((await find(token)) === null ? null : tokens.consume(token)),
  }
}
