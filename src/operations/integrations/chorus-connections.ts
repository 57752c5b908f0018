// Connection strings of `chorus` integrations: shown once, and stored as a hash.
import { SwitchboardError } from '../../contract/index.ts'
import { INBOX_KIND } from '../../gateway/access/url-credentials.ts'
import { liveParts, type OperationContext } from '../context.ts'

/** `rotate`: revokes the older strings of the integration. */
export async function connectChorus(
  context: OperationContext & { readonly by: string },
  integration: string,
  { rotate }: { readonly rotate: boolean },
) {
  const { tokens, baseUrl } = liveParts(context)
  if (baseUrl === undefined) throw new SwitchboardError('not_built', 'no connection strings are minted here')
  const configured = context.settings().integrations.find((one) => one.id === integration)
  if (configured?.platform !== 'chorus') {
    throw new SwitchboardError('not_found', `there is no chorus integration "${integration}"`, {
      hint: 'add it: integrations: [{ id: ID, platform: chorus }]',
    })
  }
  const rows = rotate ? await context.store.tokens({ kind: INBOX_KIND }) : []
  const old = rows.filter((row) => row.scope.integration === integration && row.revokedAt === null)
  // The old ones first: if the rest fails, a string that may be in wrong hands is revoked all the same.
  for (const { id } of old) await tokens.revoke(id, context.by)
  const scope = { integration, minted_by: context.by }
  const minted = await tokens.mint({ kind: INBOX_KIND, prefix: 'sk', scope, ttlMs: null })
  return {
    connection_string: `${baseUrl()}/inbox/${minted.token}`,
    id: minted.id,
    revoked: old.length,
  }
}
