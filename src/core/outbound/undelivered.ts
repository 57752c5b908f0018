// UNDELIVERED: tells a person that answers to them ended as `failed` or `unknown`. Each conversation gets one notice.
// It quotes nothing, is tried once, is sent at most once an hour, and never after a day. The pending notices are stored
// with the rows, so a restart loses none.
import type { Cancel, Clock, Logger, NewSend, SendRow, Store, Unnoticed } from '../../contract/index.ts'
import { type NoticeTarget, undeliveredNotice } from '../notices.ts'
import { rowAddress } from '../signals.ts'

export interface Undelivered {
  /** Looks for pending notices of an earlier run. */
  start(): void
  /** A message was not delivered, just now. */
  noticed(): void
  stop(): void
}

/** Messages that fail together share one notice. */
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
    for (const place of await unnoticedPlaces(store, clock)) {
      if (stopped) return
      const now = clock.now()
      const waitMs = place.noticedAt === null ? 0 : Math.min(place.noticedAt, now) + ONCE_IN_MS - now
      if (place.newest === null) await store.noticeSends(place.ids, null)
      else if (waitMs > 0) lookAfter(waitMs)
      else await store.noticeSends(place.ids, noticeOf(place, place.newest))
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

/** The pending notice of one conversation. */
interface Place {
  readonly noticedAt: number | null
  readonly ids: string[]
  /** The counted answers: each once, however many parts it has, and `failed` if one part failed. */
  readonly answers: Map<string, 'failed' | 'unknown'>
  readonly kinds: Set<string>
  /** The target of the newest counted message. Null: no notice is due any more. */
  newest: NoticeTarget | null
}

/** Reads page by page and keeps only counts, because a long outage may leave very many rows. */
async function unnoticedPlaces(
  store: Pick<Store, 'unnoticedSends'>,
  clock: Pick<Clock, 'now'>,
): Promise<readonly Place[]> {
  const places = new Map<string, Place>()
  let page: readonly Unnoticed[] = []
  do {
    page = await store.unnoticedSends(page.at(-1)?.send.seq ?? 0)
    for (const { send, noticedAt } of page) {
      const key = JSON.stringify([send.integration, send.conversation])
      const place = places.get(key) ?? newPlace(noticedAt)
      places.set(key, place)
      place.ids.push(send.id)
      // An operator may have sent it again meanwhile.
      const isOver = send.state === 'failed' || send.state === 'unknown'
      if (isOver && send.op !== null && clock.now() - send.updatedAt < TOLD_WITHIN_MS) count(place, send)
    }
  } while (page.length > 0)
  return [...places.values()]
}

function newPlace(noticedAt: number | null): Place {
  return { noticedAt, ids: [], answers: new Map(), kinds: new Set(), newest: null }
}

function count(place: Place, send: SendRow): void {
  const { platform, agent, session, op } = send
  const answer = send.group ?? send.id
  if (send.state === 'failed' || !place.answers.has(answer))
    place.answers.set(answer, send.state === 'failed' ? 'failed' : 'unknown')
  if (op) place.kinds.add(op.kind)
  place.newest = { to: rowAddress(send), platform, agent, session, turn: null }
}

/** The notice goes to the target of the newest message. */
function noticeOf({ answers, kinds }: Place, target: NoticeTarget): NewSend {
  const failed = [...answers.values()].filter((state) => state === 'failed').length
  const only = kinds.size === 1 ? [...kinds][0] : undefined
  const of = only === 'file' ? 'file' : only === 'prompt' ? 'question' : 'answer'
  return undeliveredNotice(target, { failed, unknown: answers.size - failed, of })
}
