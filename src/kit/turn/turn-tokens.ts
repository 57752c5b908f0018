// What an agent that is called over HTTP is given with every turn: where it answers, and a bearer for its tools. Both are
// good for that turn alone, and are kept in the commit that hands it over.
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

/** Those that came with it; of a turn that was handed over without, new ones. */
export async function turnTokens(delivery: Delivery, book: Pick<TokenList, 'mint'>): Promise<TurnTokens> {
  const { agent, session, turn } = delivery
  const [callback, bearer] =
    delivery.tokens ??
    (await Promise.all(
      TURN_TOKENS.map(
        async (order) => (await book.mint({ ...order, scope: { agent, session, turn } })).token,
      ),
    ))
  return { callback: callback ?? '', bearer: bearer ?? '' }
}
