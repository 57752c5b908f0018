// What an agent behind HTTP gets with every turn: a URL for its answer, and a bearer for its tools. Both are for that
// turn only, and are stored in the commit that hands it over.
import { CALLBACK_KIND, type Delivery, type TokenList, type TokenOrder } from '../../contract/index.ts'

const LIFE_MS = 24 * 3_600_000

export const TURN_TOKENS = [
  { kind: CALLBACK_KIND, prefix: 'cb', ttlMs: LIFE_MS },
  { kind: 'agent', ttlMs: LIFE_MS },
] as const satisfies readonly TokenOrder[]

export interface TurnTokens {
  readonly callback: string
  readonly bearer: string
}

/** Returns the tokens that came with the delivery, or new ones if it has none. */
export async function turnTokens(
  delivery: Delivery,
  tokenList: Pick<TokenList, 'mint'>,
): Promise<TurnTokens> {
  const { agent, session, turn } = delivery
  const [callback, bearer] =
    delivery.tokens ??
    (await Promise.all(
      TURN_TOKENS.map(
        async (order) => (await tokenList.mint({ ...order, scope: { agent, session, turn } })).token,
      ),
    ))
  return { callback: callback ?? '', bearer: bearer ?? '' }
}
