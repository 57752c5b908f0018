// People's names, looked up once and kept. A message waits for a name only briefly. A look-up that fails or is limited
// is repeated later.
import { asSwitchboardError, type Clock, createBoundedMap } from '../../../contract/index.ts'
import { safeName } from '../inbound-text.ts'
import type { SlackClient } from './client.ts'

export interface Names {
  /** Resolves when all names are known, or after the wait. */
  find(users: readonly string[]): Promise<void>
  of(user: string): string | undefined
  /** Takes a name from an event (of a person of another workspace, for example). */
  learn(user: string, name: unknown): void
}

const REMEMBERED = 10_000
/** An older name is looked up again, because names change. */
const FRESH_MS = 24 * 3_600_000
const TRY_AGAIN_MS = 60_000
const MOST_AT_ONCE = 20

interface Known {
  readonly name: string | undefined
  /** No look-up before this time. */
  readonly until: number
}

export function createNames(
  client: SlackClient,
  deps: { readonly clock: Clock; readonly waitMs: number },
): Names {
  const { clock } = deps
  const known = createBoundedMap<string, Known>(REMEMBERED)
  const asking = new Map<string, Promise<void>>()
  // After a 429 there is no look-up before this time.
  let quietUntil = 0

  const ask = (user: string): Promise<void> => {
    const running = asking.get(user)
    if (running) return running
    if (asking.size >= MOST_AT_ONCE || clock.now() < quietUntil) return Promise.resolve()
    const mine = client
      .call('users.info', { user }, { repeatable: true, timeoutMs: 10_000 })
      .then(
        ({ answer }) => known.set(user, { name: nameIn(answer.user), until: clock.now() + FRESH_MS }),
        (thrown: unknown) => {
          const { code, retryAfterMs } = asSwitchboardError(thrown)
          if (code === 'rate_limited') quietUntil = clock.now() + (retryAfterMs ?? TRY_AGAIN_MS)
          known.set(user, { name: known.get(user)?.name, until: clock.now() + TRY_AGAIN_MS })
        },
      )
      .finally(() => asking.delete(user))
    asking.set(user, mine)
    return mine
  }

  return {
    async find(users) {
      const now = clock.now()
      const wanted = users.filter((user) => (known.get(user)?.until ?? 0) <= now)
      // A known but old name is used. It is looked up again in the background.
      const needed = wanted
        .map((user) => ({ user, asked: ask(user) }))
        .filter(({ user }) => known.get(user) === undefined)
      if (needed.length === 0) return
      let cancel = () => {}
      const passed = new Promise<void>((resolve) => {
        cancel = clock.after(deps.waitMs, resolve)
      })
      await Promise.race([Promise.all(needed.map(({ asked }) => asked)), passed])
      cancel()
    },
    of: (user) => known.get(user)?.name,
    learn(user, name) {
      const safe = safeName(name)
      if (safe !== undefined && known.get(user)?.name === undefined)
        known.set(user, { name: safe, until: clock.now() + FRESH_MS })
    },
  }
}

function nameIn(user: unknown): string | undefined {
  const { profile, real_name, name } = (user ?? {}) as Record<string, unknown>
  const { display_name, real_name: whole } = (profile ?? {}) as Record<string, unknown>
  return safeName(display_name) ?? safeName(real_name) ?? safeName(whole) ?? safeName(name)
}
