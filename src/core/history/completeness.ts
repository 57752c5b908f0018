// COMPLETENESS: proof that no message was missed, for every integration whose platform keeps a history.
//
// An integration is `behind` from each connect until a walk over its histories (walk.ts) has compared every place. Then
// it is `complete` until a minute before that walk began, and later walks advance that time. After a connect a walk
// begins at once and receives messages from before the connect. A second walk follows 75 s later for messages that the
// platform showed late. Then walks run slowly in the background. Meanwhile live messages wait until their place has
// been compared (live-order.ts). With several nodes, one node walks under a lease, and the lease's token goes with
// every mark. If a look after a connect finds another node walking, it is tried again until a node has compared
// everything up to that connect.
//
// The history may hold a message from a time when the link was up, although the link did not bring it. Then the link is
// deaf and is renewed, at most once in ten minutes. A failed probe renews the link as well. Silence alone proves
// nothing.
import {
  type Cancel,
  type Clock,
  defined,
  everyRow,
  type HistoryLinkRow,
  type HistoryPlace,
  type InboundEvent,
  type KnownConversation,
  type Logger,
  type MarkMove,
  type StoreBesideOutlet,
  SwitchboardError,
} from '../../contract/index.ts'
import { GRACE_MS, type Intake } from '../inbound/intake.ts'
import type { Link } from '../links.ts'
import { linkOf } from '../links.ts'
import { createLiveOrder, WAIT_AT_MOST_MS } from './live-order.ts'
import type { Missed } from './missed.ts'
import { lookAt, type WalkOutcome, walkHistory } from './walk.ts'

export interface CompletenessDeps {
  readonly store: StoreBesideOutlet
  readonly clock: Clock
  readonly log: Logger
  readonly intake: Pick<Intake, 'late'>
  /** For tests: the process may end here. */
  readonly crashPoint?: ((name: string) => void) | undefined
}

/** Watches one integration. */
export interface HistoryWatch {
  /** The live link was made, or made again. */
  connected(): void
  /**
   * Receives events of the live link. Where messages from before the connect may still be missing, they are received
   * first.
   */
  inOrder<Answer>(events: readonly InboundEvent[], receive: () => Promise<Answer>): Promise<Answer>
  stop(): Promise<void>
}

const EVERY_MS = 600_000
const AFTER_FAULT_MS = 60_000
/** Everything up to the connect is old enough to compare by then. */
const FOLLOW_UP_MS = GRACE_MS + 15_000
const BACKGROUND_GAP_MS = 250
/** A link that keeps reconnecting must not cause walk after walk. */
const BETWEEN_CONNECTS_MS = 5_000
const LEASE_MS = 120_000
const ANSWER_WITHIN_MS = 60_000
const RENEW_AT_MOST_EVERY_MS = 600_000
const PROBE_EVERY_MS = 300_000
const KNOWN_FOR_MS = 7 * 24 * 3_600_000
const MOST_KNOWN = 2_000

/** `follow-up`: compares entries that were too young at the connect. */
type Cause = 'connect' | 'follow-up' | 'background'

interface Next {
  readonly ms: number
  readonly cause?: Cause
}

export function watchHistory(link: Link, deps: CompletenessDeps): HistoryWatch {
  const { store, clock, log } = deps
  const { adapter, integration } = link
  const { history: reader } = adapter
  let stopped = false
  let walking: Promise<void> | null = null
  /** A connect came during a walk, which did not see the messages of that time. */
  let again = false
  /** Start of the last walk for a connect. */
  let lookedAt = Number.NEGATIVE_INFINITY
  let renewedAt = Number.NEGATIVE_INFINITY
  let next: Cancel = () => undefined
  let cancelProbe: Cancel = () => undefined
  const pauses = new Set<() => void>()

  const pause = (ms: number) =>
    new Promise<boolean>((resolve) => {
      if (stopped) return resolve(false)
      const over = () => {
        cancel()
        pauses.delete(over)
        resolve(!stopped)
      }
      const cancel = clock.after(ms, over)
      pauses.add(over)
    })

  const inTime = <Answer>(answer: Promise<Answer>) =>
    new Promise<Answer>((resolve, reject) => {
      const over = () =>
        reject(new SwitchboardError('platform_unavailable', 'the history was not answered in time'))
      const cancel = clock.after(ANSWER_WITHIN_MS, over)
      pauses.add(over)
      answer.then(resolve, reject).finally(() => {
        cancel()
        pauses.delete(over)
      })
    })

  const renew = (cause: string) => {
    const now = clock.now()
    const agoMs = now - renewedAt
    // A time in the future dates from before the clock was set back.
    if (!adapter.link?.renew || (agoMs >= 0 && agoMs < RENEW_AT_MOST_EVERY_MS)) return
    renewedAt = now
    log.warn({ integration, cause }, 'the link is renewed')
    adapter.link.renew(cause)
  }

  const missed = (found: readonly Missed[]) => {
    link.lastInAt = clock.now()
    log.warn({ integration, messages: found.length }, 'messages were missed, and found in the history')
    const { state, since = connectedAt() } = linkOf(adapter)
    // No link could bring messages from before it was made, and a link that is down is being renewed already.
    const isUnheard = ({ at }: Missed) => since !== null && at >= since && clock.now() - at > GRACE_MS
    if (state === 'up' && since !== null && (since > clock.now() || found.some(isUnheard)))
      renew(`${found.length} messages stood in the history that it did not bring`)
  }

  const gap = async ({ id, name = id }: HistoryPlace, { from, to }: { from: number; to: number }) => {
    const detail = { place: name, from: new Date(from).toISOString(), to: new Date(to).toISOString() }
    log.warn({ integration, ...detail }, 'the platform keeps no history of this time any more')
    await store.note([{ kind: 'audit', ref: `history:${integration}`, detail }])
  }

  const leaseName = `history:${integration}`
  let token: number | null = null
  const hold = async () => {
    if (stopped || isElsewhere()) return false
    if (!store.shared) return null
    token = (await store.lease(leaseName, LEASE_MS))?.token ?? null
    return token === null ? false : { name: leaseName, token }
  }
  const letGo = async () => {
    const held = token
    token = null
    if (held !== null) await store.releaseLease(leaseName, held)
  }
  const isElsewhere = () => ['waiting', 'disabled'].includes(linkOf(adapter).state)

  /** All conversations since the last comparison, and the newest of the older ones. The rest have marks. */
  const known = async (comparedMs: number): Promise<readonly KnownConversation[]> => {
    const sinceMs = clock.now() - KNOWN_FOR_MS
    const found = new Map<string, KnownConversation>()
    const add = (row: { readonly conversation: string; readonly thread: string | null }) => {
      const one = { conversation: row.conversation, ...defined({ thread: row.thread ?? undefined }) }
      found.set(JSON.stringify([row.conversation, row.thread]), one)
    }
    let looked = 0
    for await (const row of everyRow((page) => store.turns({ integration, sinceMs, ...page }))) {
      add(row)
      if (++looked >= MOST_KNOWN && row.receivedAt < comparedMs) break
    }
    for await (const row of everyRow((page) => store.sends({ integration, sinceMs, ...page }))) {
      add(row)
      if (++looked >= 2 * MOST_KNOWN && row.createdAt < comparedMs) break
    }
    return [...found.values()]
  }

  const firstHeard = async (conversation: string) => {
    const [first] = await store.turns({ integration, conversation, oldestFirst: true, limit: 1 })
    return first ? (first.lateAt ?? first.receivedAt) : null
  }

  const late = async (events: readonly InboundEvent[], mark: MarkMove | null) => {
    deps.crashPoint?.('history.before-mark')
    const received = await deps.intake.late(integration, events, mark)
    deps.crashPoint?.('history.after-mark')
    return received
  }

  /**
   * Compares one place for live messages that wait for it. It moves no mark and needs no lease, because the next walk
   * compares the place again.
   */
  const look = async (place: HistoryPlace) => {
    if (!reader) return
    const until = clock.now() + WAIT_AT_MOST_MS
    try {
      const row = await store.beginHistory(integration)
      const restUntil = async (ms: number) => clock.now() + ms < until && (await pause(ms))
      await lookAt(place, row, { ...comparing, reader, hold: async () => null, pause: restUntil, gapMs: 0 })
    } catch (thrown) {
      log.warn(
        { integration, place: place.id, error: String(thrown) },
        'what came before could not be looked for',
      )
    }
  }

  const live = createLiveOrder({ reader, clock, look })
  const connectedAt = () => live.connectedAt()
  const comparing = {
    ...{ integration, store, firstHeard, inTime, missed, gap, late },
    // A link that resumes at its own position (a mailbox by its numbers) brings messages from before the connect
    // itself.
    live: reader?.livePlace === undefined ? undefined : live,
    now: () => clock.now(),
  }

  /**
   * How long the background needs no walk, because a node compared recently and since the last connect. Another node
   * may have walked when the look after that connect was due. Null: a walk is due.
   */
  const freshFor = ({ comparedAt }: HistoryLinkRow): number | null => {
    const now = clock.now()
    const connected = connectedAt()
    const isOwed = connected !== null && connected <= now && (comparedAt ?? 0) < connected
    const freshMs = (comparedAt ?? 0) + GRACE_MS + EVERY_MS - now
    return !isOwed && freshMs > AFTER_FAULT_MS && freshMs <= EVERY_MS ? freshMs : null
  }

  /** Returns the delay and the cause of the next walk. */
  const walk = async (cause: Cause): Promise<Next> => {
    if (!reader) return { ms: EVERY_MS }
    const inBackground = cause === 'background'
    // Also checked before the lease is taken: a node without work must not block one that has work.
    if (inBackground && store.shared && !isElsewhere()) {
      const ms = freshFor(await store.beginHistory(integration))
      if (ms !== null) return { ms }
    }
    const fence = await hold()
    if (fence === false) return { ms: AFTER_FAULT_MS }
    const row = await store.beginHistory(integration)
    const freshMs = inBackground ? freshFor(row) : null
    if (freshMs !== null) return { ms: freshMs }
    const outcome = await walkHistory(row, {
      ...{ ...comparing, reader, known, hold, pause },
      gapMs: inBackground ? BACKGROUND_GAP_MS : 0,
    })
    if (outcome.end === 'lost') return { ms: AFTER_FAULT_MS }
    await settle(outcome)
    return outcome.settled ? { ms: EVERY_MS } : { ms: AFTER_FAULT_MS, cause: 'follow-up' }
  }

  const settle = async ({ upTo, problem, settled }: WalkOutcome) => {
    const fence = await hold()
    if (fence === false) return
    await store.settleHistory({
      integration,
      state: problem === null ? 'complete' : 'behind',
      detail: problem,
      ...(problem === null ? { until: upTo } : {}),
      ...(settled ? { comparedAt: upTo } : {}),
      ...defined({ fence: fence ?? undefined }),
    })
  }

  const begin = (cause: Cause) => {
    next()
    if (stopped) return
    if (walking) {
      again ||= cause === 'connect'
      return
    }
    if (cause === 'connect') lookedAt = clock.now()
    walking = walk(cause)
      .catch((thrown) => {
        log.warn({ integration, error: String(thrown) }, 'the history could not be compared')
        return { ms: AFTER_FAULT_MS, cause: 'follow-up' as const }
      })
      .then(async (due: Next) => {
        await letGo().catch(() => undefined)
        walking = null
        if (stopped) return
        if (again) {
          again = false
          const sinceMs = clock.now() - lookedAt
          const waitMs = sinceMs >= 0 && sinceMs < BETWEEN_CONNECTS_MS ? BETWEEN_CONNECTS_MS - sinceMs : 0
          next = clock.after(waitMs, () => begin('connect'))
        } else later(due)
      })
  }

  const later = ({ ms, cause = 'background' }: Next) => {
    next()
    const connected = connectedAt()
    const leftMs = connected === null ? 0 : connected + FOLLOW_UP_MS - clock.now()
    if (leftMs > 0 && leftMs < ms) next = clock.after(leftMs, () => begin('follow-up'))
    else next = clock.after(ms, () => begin(cause))
  }

  const probe = () => {
    cancelProbe = clock.after(PROBE_EVERY_MS, () => {
      const asked = linkOf(adapter).state === 'up' ? adapter.link?.probe?.() : undefined
      void Promise.resolve(asked && inTime(asked))
        .then(
          (answer) => answer === 'deaf' && renew('its own probe was not heard'),
          (thrown) => log.info({ integration, error: String(thrown) }, 'the link could not be probed'),
        )
        .finally(() => !stopped && probe())
    })
  }

  if (adapter.link?.probe) probe()
  if (reader) next = clock.after(0, () => begin('follow-up'))

  return {
    connected() {
      if (!reader || stopped) return
      live.connected()
      const behind = { integration, state: 'behind', detail: 'not compared since the last connect' } as const
      store
        .beginHistory(integration)
        .then((row) => (row.state === 'behind' ? undefined : store.settleHistory(behind)))
        .catch((thrown) => log.warn({ integration, error: String(thrown) }, 'it is not noted as behind'))
        .finally(() => begin('connect'))
    },
    async inOrder(events, receive) {
      const turn = live.wait(events)
      if (turn === null) return receive()
      try {
        await turn.ready
        return await receive()
      } finally {
        turn.done()
      }
    },
    async stop() {
      stopped = true
      live.stop()
      next()
      cancelProbe()
      for (const over of [...pauses]) over()
      await walking
    },
  }
}
