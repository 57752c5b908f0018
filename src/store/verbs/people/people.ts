// Grants, tokens and secrets: who may do what. The ledger records every change, and never a secret value.
import type { Grant, NewToken, Right } from '../../../contract/index.ts'
import { type InsertShape, insert, run, type Steps } from '../../statement.ts'
import { hint, oneByOne, recordFact, type Verb, type VerbContext } from '../../verb-context.ts'

export const grant: Verb<Omit<Grant, 'at'>, void> = oneByOne(function* (context, given) {
  const { integration, sender, right, by } = given
  const added = yield* run(
    `INSERT INTO grants (integration, sender, access_right, granted_by, granted_at)
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
    [integration, sender, right, by, context.now],
  )
  if (added === 0) return
  recordFact(context, { kind: 'access', ref: sender, integration, to: `granted:${right}` }, { by })
  hint(context, { kind: 'access' })
})

export interface RevokeCall {
  readonly integration: string
  readonly sender: string
  readonly right: Right
  readonly by: string
}

export function* revokeOne(context: VerbContext, call: RevokeCall): Steps<boolean> {
  const { integration, sender, right, by } = call
  const gone = yield* run('DELETE FROM grants WHERE integration = $1 AND sender = $2 AND access_right = $3', [
    integration,
    sender,
    right,
  ])
  if (gone === 0) return false
  recordFact(
    context,
    { kind: 'access', ref: sender, integration, from: `granted:${right}`, to: `revoked:${right}` },
    { by },
  )
  hint(context, { kind: 'access' })
  return true
}

export const revoke = oneByOne(revokeOne)

export interface AddTokenCall {
  readonly token: NewToken
  readonly by: string
}

const TOKEN_INSERT: InsertShape = {
  table: 'tokens',
  columns: ['id', 'hash', 'kind', 'scope', 'created_at', 'expires_at'],
  numbers: ['created_at', 'expires_at'],
  conflict: '',
  identity: '',
}

export const addToken: Verb<AddTokenCall, void> = function* (context, calls) {
  yield* keepTokens(context, calls)
  return calls.map(() => undefined)
}

export function* keepTokens(context: VerbContext, calls: readonly AddTokenCall[]): Steps<void> {
  yield* insert(
    TOKEN_INSERT,
    calls.map(({ token: { id, hash, kind, scope, expiresAt } }) => [
      ...[id, hash, kind, JSON.stringify(scope)],
      ...[context.now, expiresAt],
    ]),
  )
  for (const { token, by } of calls)
    recordFact(context, { kind: 'token', ref: token.id, to: 'minted' }, { by, kind: token.kind })
}

export interface TokensUsedCall {
  readonly uses: readonly { readonly id: string; readonly at: number }[]
}

/** Leaves no entry in the ledger: it is a coarse hint for cleaning up. */
export const tokensUsed: Verb<TokensUsedCall, void> = oneByOne(function* (_, { uses }) {
  for (const { id, at } of uses)
    yield* run(
      'UPDATE tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)',
      [id, at],
    )
})

export interface RevokeTokenCall {
  readonly id: string
  readonly by: string
}

export const revokeToken = oneByOne(function* (
  context: VerbContext,
  { id, by }: RevokeTokenCall,
): Steps<boolean> {
  const changed = yield* run('UPDATE tokens SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL', [
    id,
    context.now,
  ])
  if (changed === 0) return false
  recordFact(context, { kind: 'token', ref: id, from: 'minted', to: 'revoked' }, { by })
  hint(context, { kind: 'access' })
  return true
})

export interface SecretsCall {
  readonly change: Readonly<Record<string, string | null>>
  readonly by: string
}

export const replaceSecrets: Verb<SecretsCall, void> = oneByOne(function* (context, { change, by }) {
  for (const [name, ciphertext] of Object.entries(change)) {
    if (ciphertext === null) yield* run('DELETE FROM secrets WHERE name = $1', [name])
    else {
      yield* run(
        `INSERT INTO secrets (name, ciphertext) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET ciphertext = excluded.ciphertext`,
        [name, ciphertext],
      )
    }
    recordFact(context, { kind: 'secret', ref: name, to: ciphertext === null ? 'removed' : 'set' }, { by })
  }
  // Secrets that others gave an integration are read when needed, so a delivery must not wake every node.
  if (Object.keys(change).some((name) => !name.startsWith('given.'))) hint(context, { kind: 'config' })
})
