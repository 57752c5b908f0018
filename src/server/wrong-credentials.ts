// Records wrong credentials: a count for each route, and one ledger entry for each source and minute. A source with
// many of them is slowed down. Valid credentials always work, also behind the same address.
import { type Cancel, createBoundedMap, type LedgerNote, SwitchboardError } from '../contract/index.ts'
import type { ServerDeps, ServerLimits } from './deps.ts'
import { sourceOf } from './source-of.ts'

/** The routes that ask for a credential. */
export type CredentialRoute = 'api' | 'attach' | 'callback' | 'chat' | 'console' | 'hook' | 'inbox' | 'mcp'

export interface WrongCredentials {
  /** Counts a wrong credential. Returns another refusal to answer with when this source has tried too often. */
  count(route: CredentialRoute, address: string | undefined): SwitchboardError | null
  readonly totals: ReadonlyMap<CredentialRoute, number>
  /** Writes the entries that are not yet in the ledger. */
  stop(): Promise<void>
}

interface Tries {
  readonly since: number
  count: number
  readonly routes: Set<CredentialRoute>
}

const MINUTE_MS = 60_000
const MOST_SOURCES = 10_000
/** The most sources with their own entry per minute. Further ones share one. */
const MOST_ENTRIES = 50

export function createWrongCredentials(
  limits: Pick<ServerLimits, 'wrongPerMinute'>,
  deps: Pick<ServerDeps, 'clock' | 'log' | 'note'>,
): WrongCredentials {
  const { clock, log } = deps
  const totals = new Map<CredentialRoute, number>()
  const sources = createBoundedMap<string, Tries>(MOST_SOURCES)
  let unwritten = new Map<string, Tries>()
  let others = 0
  let cancel: Cancel | null = null

  const write = async (): Promise<void> => {
    cancel?.()
    cancel = null
    if (unwritten.size === 0) return
    const notes = [...unwritten].map(([source, tries]) => noteOf(source, tries.count, tries.routes))
    if (others > 0) notes.push(noteOf('other sources', others, new Set()))
    unwritten = new Map()
    others = 0
    log.warn({ sources: notes.map(({ ref }) => ref).slice(0, 5) }, 'wrong credentials were refused')
    await deps.note?.(notes).catch(() => log.error({}, 'wrong credentials could not be noted in the ledger'))
  }

  const remember = (source: string, route: CredentialRoute) => {
    const open = unwritten.get(source)
    if (open !== undefined) {
      open.count += 1
      open.routes.add(route)
    } else if (unwritten.size < MOST_ENTRIES) {
      unwritten.set(source, { since: clock.now(), count: 1, routes: new Set([route]) })
    } else others += 1
    cancel ??= clock.after(MINUTE_MS, () => void write())
  }

  return {
    count(route, address) {
      totals.set(route, (totals.get(route) ?? 0) + 1)
      const source = sourceOf(address)
      remember(source, route)
      const now = clock.now()
      const before = sources.get(source)
      // A clock that was set back starts a new minute.
      if (before === undefined || now < before.since || now - before.since >= MINUTE_MS) {
        sources.set(source, { since: now, count: 1, routes: new Set() })
        return null
      }
      before.count += 1
      if (before.count <= limits.wrongPerMinute) return null
      return new SwitchboardError('rate_limited', 'too many wrong credentials came from this address', {
        retryAfterMs: before.since + MINUTE_MS - now,
      })
    },
    totals,
    stop: write,
  }
}

/** Contains the source, the count and the routes, never the credential. */
function noteOf(source: string, attempts: number, routes: ReadonlySet<CredentialRoute>): LedgerNote {
  const at = routes.size === 0 ? {} : { routes: [...routes].sort().join(' ') }
  return {
    kind: 'access',
    ref: source,
    detail: { what: 'wrong credentials', attempts: String(attempts), ...at },
  }
}
