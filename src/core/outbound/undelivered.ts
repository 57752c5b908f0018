// UNDELIVERED: the person is told that answers to them ended `failed` or `unknown`. One notice a conversation, which quotes
// nothing, is tried once, comes at most once an hour, and not when a day has passed. What is to be told stands with the
// rows, so that a restart forgets nothing.
import type { Cancel, Clock, Logger, NewSend, SendRow, Store, Unnoticed } from '../../contract/index.ts'
import { undeliveredNotice } from '../notices.ts'
import { rowAddress } from '../signals.ts'

export interface Undelivered {
  /** Looks for what a former run left. */
  start(): void
  /** Something was not delivered, just now. */
  noticed(): void
  stop(): void
}

/** Several that fail together are told together. */
const GATHERED_MS = 5_000
const ONCE_IN_MS = 3_600_000
const TOLD_WITHIN_MS = 24 * 3_600_000
const STORE_AWAY_MS = 60_000

export function createUndelivered({
  store,
  clock,
  log,
}: {
  readonly store: Pick<Store, 'unnoticedSends' | 'noticeSends'>
  readonly clock: Clock
  readonly log: Logger
}): Undelivered {
  let cancel: Cancel = () => undefined
  let dueAt: number | null = null
  let stopped = false

  const lookAfter = (waitMs: number) => {
    const at = clock.now() + waitMs
    if (stopped || (dueAt !== null && dueAt <= at && dueAt > clock.now())) return
    cancel()
    dueAt = at
    cancel = clock.after(waitMs, () => {
      dueAt = null
      void look().catch((thrown) => {
        log.warn({ error: String(thrown) }, 'persons were not told of undelivered answers; will try again')
        lookAfter(STORE_AWAY_MS)
      })
    })
  }

  const look = async () => {
    for (const rows of byConversation(await store.unnoticedSends())) {
      const [first] = rows
      if (!first || stopped) continue
      const now = clock.now()
      const fresh = rows.filter(
        ({ send }) => isOver(send) && now - send.updatedAt < TOLD_WITHIN_MS && send.op !== null,
      )
      const waitMs = first.noticedAt === null ? 0 : Math.min(first.noticedAt, now) + ONCE_IN_MS - now
      const ids = (some: readonly Unnoticed[]) => some.map(({ send }) => send.id)
      if (fresh.length === 0) await store.noticeSends(ids(rows), null)
      else if (waitMs > 0) lookAfter(waitMs)
      else await store.noticeSends(ids(rows), noticeOf(fresh.map(({ send }) => send)))
    }
  }

  return {
    start: () => lookAfter(GATHERED_MS),
    noticed: () => lookAfter(GATHERED_MS),
    stop() {
      stopped = true
      cancel()
    },
  }
}

/** An operator may have sent it again meanwhile. */
const isOver = ({ state }: SendRow) => state === 'failed' || state === 'unknown'

function byConversation(found: readonly Unnoticed[]): readonly (readonly Unnoticed[])[] {
  const places = new Map<string, Unnoticed[]>()
  for (const one of found) {
    const key = JSON.stringify([one.send.integration, one.send.conversation])
    places.set(key, [...(places.get(key) ?? []), one])
  }
  return [...places.values()]
}

/** Said where the newest of them was to be said. */
function noticeOf(rows: readonly SendRow[]): NewSend | null {
  const last = rows.at(-1)
  if (!last) return null
  // The parts of one answer are one answer.
  const count = (state: string) =>
    new Set(rows.filter((row) => row.state === state).map((row) => row.group ?? row.id)).size
  const { platform, agent, session } = last
  const target = { to: rowAddress(last), platform, agent, session, turn: null }
  const kinds = new Set(rows.map(({ op }) => op?.kind))
  const only = kinds.size === 1 ? [...kinds][0] : undefined
  const of = only === 'file' ? 'file' : only === 'prompt' ? 'question' : 'answer'
  return undeliveredNotice(target, { failed: count('failed'), unknown: count('unknown'), of })
}
