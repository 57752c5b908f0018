// Tokens as they are listed, without their values.
import { iso, isoOrNull, type Store } from '../../contract/index.ts'

export interface TokenView {
  readonly id: string
  readonly kind: string
  readonly scope: Readonly<Record<string, string>>
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked: boolean
  /** Precise to an hour; null: never used, or unknown. */
  readonly last_used_at: string | null
  /** False also when unknown: for tokens minted before use was recorded. */
  readonly never_used: boolean
}

/** Tokens of single deliveries are included only with `all`. */
export async function tokenViews(store: Pick<Store, 'tokens'>, all = false): Promise<readonly TokenView[]> {
  return (await store.tokens(all ? {} : { ofTurns: false })).map((row) => ({
    id: row.id,
    kind: row.kind,
    scope: row.scope,
    created_at: iso(row.createdAt),
    expires_at: isoOrNull(row.expiresAt),
    revoked: row.revokedAt !== null,
    last_used_at: isoOrNull(row.lastUsedAt === 0 ? null : row.lastUsedAt),
    never_used: row.lastUsedAt === null,
  }))
}
