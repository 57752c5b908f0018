// Tokens as they are listed, without their values.
import { iso, isoOrNull, type ReadDesk, type Store } from '../../contract/index.ts'

/** Tokens of single deliveries are included only with `all`. */
export async function tokenViews(
  store: Pick<Store, 'tokens'>,
  all = false,
): Promise<Awaited<ReturnType<ReadDesk['tokens']>>> {
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
