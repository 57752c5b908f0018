// Connection strings of `chorus` integrations: minted, shown once, kept as a hash, rotated so that the old one is dead.
import { type Settings, type Store, SwitchboardError } from '../../contract/index.ts'
import type { Tokens } from '../../gateway/access/tokens.ts'
import { INBOX_KIND } from '../../gateway/access/url-credentials.ts'

export interface ChorusConnections {
  /** `rotate`: every older string of the integration stops working. */
  connect(
    integration: string,
    options: { readonly rotate: boolean },
    by: string,
  ): Promise<{ readonly connection_string: string; readonly id: string; readonly revoked: number }>
}

export function createChorusConnections(deps: {
  readonly store: Pick<Store, 'tokens'>
  readonly tokens: Tokens
  readonly settings: () => Settings
  readonly baseUrl: () => string
}): ChorusConnections {
  return {
    async connect(integration, { rotate }, by) {
      const found = deps.settings().integrations.find((one) => one.id === integration)
      if (found?.platform !== 'chorus') {
        throw new SwitchboardError('not_found', `there is no chorus integration "${integration}"`, {
          hint: 'add it: integrations: [{ id: ID, platform: chorus }]',
        })
      }
      const old = rotate ? await liveOf(integration) : []
      // The old ones first: should the rest fail, a string that may be in wrong hands is dead all the same.
      for (const id of old) await deps.tokens.revoke(id, by)
      const scope = { integration, minted_by: by }
      const minted = await deps.tokens.mint({ kind: INBOX_KIND, prefix: 'sk', scope, ttlMs: null })
      return {
        connection_string: `${deps.baseUrl()}/inbox/${minted.token}`,
        id: minted.id,
        revoked: old.length,
      }
    },
  }

  async function liveOf(integration: string): Promise<readonly string[]> {
    const rows = await deps.store.tokens({ kind: INBOX_KIND })
    return rows
      .filter((row) => row.scope.integration === integration && row.revokedAt === null)
      .map((row) => row.id)
  }
}
