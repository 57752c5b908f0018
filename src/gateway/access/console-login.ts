// Sign-in at the console: one-time links become sessions. A session speaks for a user with the user's present roles.
import { type Clock, iso, type Principal, SwitchboardError, type UserSettings } from '../../contract/index.ts'
import type { Tokens } from './tokens.ts'

const TICKET_KIND = 'console-ticket'
const SESSION_KIND = 'console'
const TICKET_LIFE_MS = 15 * 60_000
const SESSION_LIFE_MS = 7 * 24 * 3_600_000

export interface ConsoleLogin {
  /** Returns a one-time link that signs a user in; without a name, the first owner. Throws `not_found`. */
  readonly link: (order: { readonly user?: string }) => Promise<{
    readonly url: string
    readonly user: string
    readonly roles: readonly string[]
    readonly expires_at: string
  }>
  /**
   * Exchanges a link for one session, once; null: it was used, is too old, or its user is gone. The replaced session
   * ends.
   */
  enter(
    ticket: string,
    replaced: string | null,
  ): Promise<{ readonly token: string; readonly lifeMs: number } | null>
  /** Returns the session's user with present roles; null: none. */
  who(session: string): Promise<Principal | null>
  leave(session: string): Promise<void>
}

export function createConsoleLogin(deps: {
  readonly tokens: Tokens
  readonly clock: Clock
  readonly users: () => readonly UserSettings[]
  readonly baseUrl: () => string
}): ConsoleLogin {
  const { tokens } = deps
  const userOf = (
    row: { readonly kind: string; readonly scope: Readonly<Record<string, string>> } | null,
    kind: string,
  ): UserSettings | undefined =>
    row?.kind === kind ? deps.users().find((one) => one.id === row.scope.user) : undefined

  return {
    async link({ user }) {
      const who = chosen(deps.users(), user)
      const minted = await tokens.mint({ kind: TICKET_KIND, scope: { user: who.id }, ttlMs: TICKET_LIFE_MS })
      return {
        // The ticket is in the fragment, so it reaches no server log and no referrer.
        url: `${deps.baseUrl()}/#ticket=${minted.token}`,
        user: who.id,
        roles: who.roles,
        expires_at: iso(minted.expiresAt ?? deps.clock.now()),
      }
    },
    async enter(ticket, replaced) {
      // Checked before it is used up, so that a token of another kind stays valid.
      const user = userOf(await tokens.find(ticket), TICKET_KIND)
      if (user === undefined || (await tokens.consume(ticket)) === null) return null
      const minted = await tokens.mint({
        kind: SESSION_KIND,
        scope: { user: user.id },
        ttlMs: SESSION_LIFE_MS,
      })
      if (replaced !== null) await end(replaced)
      return { token: minted.token, lifeMs: SESSION_LIFE_MS }
    },
    async who(session) {
      const user = userOf(await tokens.find(session), SESSION_KIND)
      return user === undefined ? null : { kind: 'user', id: user.id, roles: user.roles }
    },
    leave: end,
  }

  /** Only for sessions: another token sent as a cookie stays valid. */
  async function end(session: string): Promise<void> {
    if ((await tokens.find(session))?.kind === SESSION_KIND) await tokens.consume(session)
  }
}

/** Without a name it is the first owner, because a person with access to the data folder has all rights anyway. */
function chosen(users: readonly UserSettings[], wanted: string | undefined): UserSettings {
  const found =
    wanted === undefined
      ? users.find((one) => one.roles.includes('owner'))
      : users.find((one) => one.id === wanted)
  if (found !== undefined) return found
  const hint = `users: ${users.map((one) => one.id).join(', ')}`
  throw wanted === undefined
    ? new SwitchboardError('not_found', 'no user has the role owner: say who signs in', {
        hint: `switchboard console --user ID; ${hint}`,
      })
    : new SwitchboardError('not_found', `there is no user "${wanted}"`, { hint })
}
