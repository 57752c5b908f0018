// Whether the holder of a conversation may still hold it. The watch over takeovers asks this, because a right may be
// lost during a hold.
import type { Clock, Principal, Store, UserSettings } from '../../contract/index.ts'
import { authorize } from '../people/authorize.ts'
import { userOfHolder } from './takeovers.ts'

/** The operator's own credentials that are in no table: the token of the configuration, and the local socket. */
const ALWAYS = ['admin', 'local']

export function createMayHold(deps: {
  readonly store: Pick<Store, 'tokens'>
  readonly clock: Clock
  readonly users: () => readonly UserSettings[]
}): (holder: string) => Promise<boolean> {
  const may = (who: Principal) => authorize(who, 'conversation.hold', { kind: 'gateway' }).allowed
  return async (holder) => {
    if (ALWAYS.includes(holder)) return true
    const id = userOfHolder(holder)
    if (id !== null) {
      const user = deps.users().find((one) => one.id === id)
      return user !== undefined && may({ kind: 'user', id, roles: user.roles })
    }
    // An operator's minted token, by its id.
    const tokens = await deps.store.tokens({ ofTurns: false })
    const token = tokens.find((one) => one.id === holder && one.kind === 'admin')
    if (!token || token.revokedAt !== null) return false
    return token.expiresAt === null || token.expiresAt > deps.clock.now()
  }
}
