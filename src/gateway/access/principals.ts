// Who a bearer token speaks for.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Principal, TokenRow, UserSettings } from '../../contract/index.ts'
import type { Tokens } from './tokens.ts'

export function createAuthenticate(deps: {
  readonly adminToken: () => string
  readonly tokens: Pick<Tokens, 'find'>
  readonly users: () => readonly UserSettings[]
}): (bearer: string) => Promise<Principal | null> {
  return async (bearer) => {
    if (sameSecret(bearer, deps.adminToken())) return { kind: 'operator', id: 'admin' }
    const row = await deps.tokens.find(bearer)
    return row === null ? null : principalOf(row, deps.users())
  }
}

/** Returns the principal of a token row; null: none here. Each kind opens only what it names. */
function principalOf(
  row: Pick<TokenRow, 'id' | 'kind' | 'scope'>,
  users: readonly UserSettings[],
): Principal | null {
  const { agent = '', session, user, integration = '', sender = '' } = row.scope
  switch (row.kind) {
    case 'admin':
      return { kind: 'operator', id: row.id }
    case 'agent':
    case 'session':
    case 'notify': {
      const only = row.kind === 'notify' ? { only: ['notify.send'] as const } : {}
      return session === undefined
        ? { kind: 'agent', id: agent, ...only }
        : { kind: 'session', id: session, agent, user: user ?? null, ...only }
    }
    case 'user': {
      const found = users.find((one) => one.id === user)
      return found ? { kind: 'user', id: found.id, roles: found.roles } : null
    }
    case 'web':
      return { kind: 'integration', id: integration, sender }
    default:
      return null
  }
}

/** Compares digests, so that neither length nor content can be timed. */
function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
