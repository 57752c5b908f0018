// The token table: a token is minted once, shown once, and stored as a hash. Every surface with a bearer token or a
// cookie uses it.
import * as crypto from 'node:crypto'
import { createHash } from 'node:crypto'
import type { Clock, NewToken, Random, Store, TokenList, TokenRow } from '../../contract/index.ts'

const BY = 'switchboard'

/** One call where Node supports it (20.12). A message to an agent over HTTP needs three of them. */
function hashToken(token: string): string {
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', token, 'hex')
    : createHash('sha256').update(token).digest('hex')
}

/**
 * The prefix of an id, which is not secret. Ids of one commit are then adjacent in the index and share a page, instead
 * of one page each.
 */
function secondOf(now: number): string {
  return Math.max(0, Math.floor(now / 1000))
    .toString(16)
    .padStart(8, '0')
}

export interface Tokens extends TokenList {
  /** Creates a token that is valid once the caller has stored its row. */
  prepare(order: Parameters<TokenList['mint']>[0]): { readonly token: string; readonly row: NewToken }
  /** Returns the row, even of an expired or revoked token; null: unknown. */
  look(token: string): Promise<TokenRow | null>
  revoke(id: string, by: string): Promise<boolean>
}

export function createTokens(
  store: Pick<Store, 'addToken' | 'tokenByHash' | 'revokeToken'>,
  clock: Clock,
  random: Random,
  used: (row: TokenRow) => void = () => {},
): Tokens {
  const isLive = (row: TokenRow): boolean =>
    row.revokedAt === null && (row.expiresAt === null || row.expiresAt > clock.now())
  const look = async (token: string): Promise<TokenRow | null> => {
    const row = await store.tokenByHash(hashToken(token))
    if (row && isLive(row)) used(row)
    return row
  }
  const live = async (token: string): Promise<TokenRow | null> => {
    const row = await look(token)
    return row && isLive(row) ? row : null
  }

  const prepare: Tokens['prepare'] = ({ kind, scope, ttlMs, prefix = kind }) => {
    const token = `${prefix}_${Buffer.from(random.bytes(32)).toString('base64url')}`
    const id = `tok_${secondOf(clock.now())}${Buffer.from(random.bytes(6)).toString('hex')}`
    const expiresAt = ttlMs === null ? null : clock.now() + ttlMs
    return { token, row: { id, hash: hashToken(token), kind, scope, expiresAt } }
  }

  return {
    prepare,
    async mint(order) {
      const { token, row } = prepare(order)
      await store.addToken(row, BY)
      return { token, id: row.id, expiresAt: row.expiresAt }
    },
    find: live,
    look,
    async consume(token) {
      const row = await live(token)
      // Revoking succeeds for exactly one caller, which makes the use one-time.
      return row && (await store.revokeToken(row.id, BY)) ? row : null
    },
    revoke: (id, who) => store.revokeToken(id, who),
  }
}
