// The one token table: minted once, shown once, kept as a hash. Every surface with a bearer or a cookie asks here.
import * as crypto from 'node:crypto'
import { createHash } from 'node:crypto'
import type { Clock, NewToken, Random, Store, TokenList, TokenRow } from '../../contract/index.ts'

const BY = 'switchboard'

/** In one go where Node has it (20.12): three of them are on the way of a message to an agent that is called over HTTP. */
function hashToken(token: string): string {
  return typeof crypto.hash === 'function'
    ? crypto.hash('sha256', token, 'hex')
    : createHash('sha256').update(token).digest('hex')
}

/**
 * In front of an id, which is no secret: those of one commit then stand side by side in the index of ids, and are a page of it
 * to write, where chance alone made it a page each.
 */
function secondOf(now: number): string {
  return Math.max(0, Math.floor(now / 1000))
    .toString(16)
    .padStart(8, '0')
}

export interface Tokens extends TokenList {
  /** Made, and good once whoever asked has kept its row. */
  prepare(order: Parameters<TokenList['mint']>[0]): { readonly token: string; readonly row: NewToken }
  /** The row, also of a token that expired or was revoked; null: there never was one. */
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
      // Revoking succeeds for exactly one caller: that is the one-time use.
      return row && (await store.revokeToken(row.id, BY)) ? row : null
    },
    revoke: (id, who) => store.revokeToken(id, who),
  }
}
