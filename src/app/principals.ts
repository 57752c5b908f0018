// Who a bearer token speaks for.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { Principal, Settings } from '../contract/index.ts'
import type { Tokens } from './tokens.ts'

export function createAuthenticate(deps: {
  readonly adminToken: () => string
  readonly tokens: Tokens
  readonly settings: () => Settings
}): (bearer: string) => Promise<Principal | null> {
  return async (bearer) => {
    if (sameSecret(bearer, deps.adminToken())) return { kind: 'operator', id: 'admin' }
    const row = await deps.tokens.find(bearer)
    if (!row) return null
    const { scope } = row
    switch (row.kind) {
      case 'admin':
        return { kind: 'operator', id: row.id }
      case 'agent':
      case 'notify':
        return scope.session === undefined
          ? { kind: 'agent', id: scope.agent ?? '' }
          : { kind: 'session', id: scope.session, agent: scope.agent ?? '', user: scope.user ?? null }
      case 'user': {
        const user = deps.settings().users.find((one) => one.id === scope.user)
        return user ? { kind: 'user', id: user.id, roles: user.roles } : null
      }
      case 'web':
        return { kind: 'integration', id: scope.integration ?? '', sender: scope.sender ?? '' }
      default:
        return null
    }
  }
}

/** Compares digests, so that neither length nor content can be timed. */
function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
