// SENDER: outbox → platform. One message of a conversation at a time, in order; `sending` is committed before the
// platform is called, `sent` only when it confirmed. What a crash left in `sending` is settled by the platform's own
// idempotency, by asking it, or, where it cannot tell, by policy and with a visible note.
import {
  asSwitchboardError,
  type Clock,
  defined,
  integrationById,
  isSideAct,
  type LaneRequest,
  LEASE_MS,
  type Logger,
  placeOfLane,
  type ReasonCode,
  type Receipt,
  type SendMove,
  type SendRow,
  type Settings,
  type Store,
  type SwitchboardError,
  sideActLifeMs,
  type TakenSend,
  type Work,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createDrain, type Drain } from '../dispatch/drain.ts'
import type { Pressure } from '../dispatch/pressure.ts'
import { createLaneKeeper, type KeptLane } from '../lane-keeper.ts'
import { createStoreRetry } from '../store-retry.ts'
import { onceMore } from './duplicate-note.ts'
import type { Links } from './links.ts'
import { notArrived, requestOf } from './send-request.ts'
import { createSendWaiters } from './send-waiters.ts'
import { endOf, isPartialOp, settleStream } from './stream-rows.ts'
import type { Streams } from './streams.ts'

export interface SenderDeps {
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly links: Links
  readonly cluster: Pick<Cluster, 'isAlive' | 'onGone'>
  /** Whether intake needs the loop more than this does. */
  readonly pressure?: Pressure
  readonly crashPoint?: (name: string) => void
  /** Between 0 and 1. */
  readonly jitter: () => number
  /** Why a row may not be sent any more, or not yet: permission is asked again at the moment of sending. */
  readonly refusedNow: (row: SendRow) => Promise<ReasonCode | 'later' | null>
  readonly streams: Pick<Streams, 'shown' | 'latest' | 'ended'>
}

export interface Sender {
  start(): void
  /** The configuration changed: what waits for an integration that is gone or disabled ends with that reason. */
  review(): Promise<void>
  /** Resolves with the row when it settled, or as it stands after `waitMs`. */
  settled(id: string, waitMs: number): Promise<SendRow | null>
  stop(): Promise<void>
}

type Taken = (TakenSend | Paced) & { readonly scope: string; readonly askedAt: number }

/** Its platform lets nothing through to this conversation now: it was not asked for, and waits as `queued`. */
interface Paced {
  readonly lane: string
  readonly outcome: 'paced'
  readonly waitMs: number
}

const STOP_GRACE_MS = 10_000
const RESTARTING_MS = 1_000
/** Whether it may be sent is not known at this node yet. */
const NOT_KNOWN_MS = 5_000

export function createSender(deps: SenderDeps): Sender {
  const { store, clock, log, links } = deps
  const storeRetry = createStoreRetry(clock, log, store)
  const lanes = createLaneKeeper<KeptLane>({
    ...{ kind: 'sends', store, clock, log, leaseMs: LEASE_MS },
    // What was under way is settled by whoever has it now.
    lost: (hold) => lanes.forget(hold),
  })
  const waiters = createSendWaiters(store, clock)
  const running = new Set<Promise<void>>()
  /** Integrations that this store knows and the configuration does not let speak. */
  let closed: readonly string[] = []

  const drain: Drain = createDrain<Taken>(
    {
      kind: 'sends',
      // One message of a lane at a time: enough lanes to keep up with what the agents say meanwhile.
      share: 1 / 3,
      reachable: () => (closed.length === 0 ? links.reachable() : [...links.reachable(), ...closed]),
      // What another node put there it sends itself, unless it can be sent only from here.
      isMine: ({ lane, scope }, from) =>
        lanes.knows(lane) ||
        links.get(scope)?.adapter.sendFrom === 'link-holder' ||
        !deps.cluster.isAlive(from),
      take,
      handle(taken) {
        const work = handle(taken).catch((thrown) => {
          log.error({ error: String(thrown) }, 'sending failed')
          // Not held any more: whoever takes the lane next finds what was left in `sending`, and settles it.
          letGo(taken.lane)
        })
        running.add(work)
        return work.finally(() => running.delete(work))
      },
    },
    { store, clock, log, ...defined({ pressure: deps.pressure }) },
  )

  /** `sending` is committed by the take: who must wait for the platform's pace is not taken. */
  async function take(wanted: readonly Work[]): Promise<readonly Taken[]> {
    const askedAt = clock.now()
    const asked = wanted.map((work) => ({ ...work, askedAt, waitMs: placeTaken(work) }))
    const free = asked.filter(({ waitMs }) => waitMs === 0)
    const requests = free.map(({ lane }) => {
      const hold = lanes.get(lane)
      if (!hold) return { lane }
      hold.restingSince = null // or it might be let go before the answer comes
      return { lane, token: hold.token }
    })
    const found = await taking(requests).catch((thrown) => {
      for (const work of free) giveBackPlace(work)
      throw thrown
    })
    const taken = free.map((work, at): Taken => ({ ...(found[at] as TakenSend), scope: work.scope, askedAt }))
    for (const one of taken) if (one.outcome !== 'taken' || !one.sending) giveBackPlace(one)
    const paced = asked.filter(({ waitMs }) => waitMs > 0)
    return [...taken, ...paced.map((work): Taken => ({ ...work, outcome: 'paced' }))]
  }

  const taking = async (requests: readonly LaneRequest[]): Promise<readonly TakenSend[]> =>
    requests.length === 0 ? [] : store.takeSends(requests, LEASE_MS)

  const placeTaken = ({ lane, scope }: Work): number => {
    const pace = links.get(scope)?.adapter.pace
    if (!pace) return 0
    const { conversation, side } = placeOfLane(lane)
    return pace.take(conversation, side)
  }

  const giveBackPlace = ({ lane, scope }: Work) =>
    links.get(scope)?.adapter.pace?.giveBack(placeOfLane(lane).conversation)

  const handle = async (taken: Taken): Promise<void> => {
    const work = { lane: taken.lane, scope: taken.scope }
    if (taken.outcome === 'paced') {
      drain.wakeAfter(work, taken.waitMs)
      return letRest(taken.lane)
    }
    if (taken.outcome !== 'taken') {
      letGo(taken.lane)
      return drain.wakeAfter(work, taken.outcome === 'lost' ? 0 : taken.retryAt - clock.now())
    }
    const hold = kept(taken)
    if (!links.get(taken.scope) && !closedDoor(taken.scope)) return standBy(hold, taken.sending)
    let laneHasMore = taken.leftover.length > 0
    for (const row of taken.leftover) await settleLeftover(taken, row)
    if (taken.sending && lanes.isOver(hold)) {
      lanes.forget(hold)
      return drain.wake(work)
    }
    if (taken.sending) laneHasMore = (await sendOne(taken, taken.sending)) && isDue(taken.nextDueAt)
    if (laneHasMore || drain.isWanted(taken.lane)) return drain.wake(work)
    if (taken.nextDueAt !== null) drain.wakeAfter(work, taken.nextDueAt - clock.now())
    return letRest(taken.lane)
  }

  const kept = ({
    lane,
    token,
    askedAt,
  }: Pick<KeptLane, 'lane' | 'token'> & { readonly askedAt: number }): KeptLane => {
    const known = lanes.get(lane)
    const hold = known?.token === token ? known : { lane, token, until: 0, restingSince: null }
    lanes.keep(hold, askedAt)
    return hold
  }

  /** Nothing is to be sent in it now. */
  const letRest = (lane: string): void => {
    const hold = lanes.get(lane)
    if (hold) lanes.rest(hold)
  }

  const letGo = (lane: string): void => {
    const hold = lanes.get(lane)
    if (hold) lanes.forget(hold)
  }

  /** Its adapter is being started again: nothing is lost, and `onAdded` finds it. */
  const standBy = async (hold: KeptLane, sending: SendRow | null) => {
    if (sending) {
      const detail = 'the integration is being started'
      const back = {
        to: 'queued',
        reason: 'platform_unavailable',
        detail,
        notBeforeMs: RESTARTING_MS,
      } as const
      await move(hold, sending, back)
    }
    await lanes.release([hold])
  }

  const isDue = (at: number | null) => at !== null && at <= clock.now()

  /** True when the lane may have more to send at once. */
  const sendOne = async (lane: { lane: string; token: number }, row: SendRow): Promise<boolean> => {
    const link = links.get(row.integration)
    const refused = await refusal(row)
    if (refused === 'later') {
      await move(lane, row, { to: 'queued', reason: 'platform_unavailable', notBeforeMs: NOT_KNOWN_MS })
      drain.wakeAfter({ lane: lane.lane, scope: row.integration }, NOT_KNOWN_MS)
      return false
    }
    if (refused || !link || !row.op) {
      await move(lane, row, { to: 'failed', reason: refused ?? 'integration_missing' })
      return true
    }
    const isBeginning = isPartialOp(row.op)
    // Nobody will finish it any more, and nothing of it is shown.
    if (isBeginning && (await endOf(row, { store, latest: deps.streams.latest }))) {
      await move(lane, row, { to: 'failed', reason: 'given_up', detail: 'the answer was not finished' })
      return true
    }
    // An edit that is under way must not come after the final text.
    if (row.turn !== null && row.platformIds.length > 0) await deps.streams.ended(row.turn)
    let receipt: Receipt
    try {
      deps.crashPoint?.('outbox.before-send')
      receipt = await link.adapter.send(requestOf(row, row.op))
    } catch (thrown) {
      return sendFailed(lane, row, asSwitchboardError(thrown, 'platform_unavailable'))
    }
    // From here on it is confirmed: what fails now is not the platform, and must not be said of the message.
    deps.crashPoint?.('outbox.after-send')
    link.lastOutAt = clock.now()
    if (isBeginning) {
      await move(lane, row, { to: 'sending', platformIds: receipt.platformIds })
      deps.crashPoint?.('outbox.after-beginning')
      deps.streams.shown(row, receipt.platformIds)
      return true
    }
    await confirm(lane, row, receipt)
    deps.crashPoint?.('outbox.after-receipt')
    return true
  }

  /** Permission is checked again at the moment of sending: the configuration may have changed meanwhile. */
  const refusal = async (row: SendRow) => closedDoor(row.integration) ?? (await deps.refusedNow(row))

  const closedDoor = (id: string) => {
    const integration = integrationById(deps.settings(), id)
    if (!integration) return 'integration_missing' as const
    return integration.enabled ? null : ('integration_disabled' as const)
  }

  const sendFailed = async (lane: { lane: string; token: number }, row: SendRow, error: SwitchboardError) => {
    const isShown = row.platformIds.length > 0
    if (error.code === 'outcome_unknown' && isPartialOp(row.op)) {
      await settleLeftover(lane, row)
      return true
    }
    if (error.code === 'outcome_unknown' && !isShown) {
      const known = await lookedUp(row)
      if (known.outcome === 'sent') await confirm(lane, row, known.receipt)
      else if (known.outcome === 'unknown') await settleUnknown(lane, row, error.message)
      else return sendFailed(lane, row, notArrived(error))
      return true
    }
    const { sendMaxAttempts, sendRetryBaseMs, sendRetryMaxMs } = deps.settings().tunables
    // The message that showed its beginning is gone: the final text is sent anew.
    if (isShown && !error.nature.retryable && error.code !== 'outcome_unknown') {
      await move(lane, row, { to: 'queued', platformIds: [], detail: error.message })
      return true
    }
    if (!error.nature.retryable && error.code !== 'outcome_unknown') {
      await move(lane, row, { to: 'failed', reason: 'platform_rejected', detail: error.message })
      return true
    }
    if (row.attempts >= sendMaxAttempts) {
      await move(lane, row, { to: 'failed', reason: 'max_attempts', detail: error.message })
      return true
    }
    const backoffMs =
      Math.min(sendRetryBaseMs * 2 ** (row.attempts - 1), sendRetryMaxMs) * (0.5 + deps.jitter() / 2)
    const notBeforeMs = Math.max(error.retryAfterMs ?? 0, Math.round(backoffMs))
    if (isSideAct(row) && clock.now() + notBeforeMs - row.createdAt > sideActLifeMs(row)) {
      await move(lane, row, { to: 'failed', reason: 'given_up', detail: error.message })
      return true
    }
    const reason = error.code === 'rate_limited' ? 'platform_busy' : 'platform_unavailable'
    await move(lane, row, { to: 'queued', reason, detail: error.message, notBeforeMs })
    drain.wakeAfter({ lane: lane.lane, scope: row.integration }, notBeforeMs)
    return false
  }

  const settleLeftover = async (lane: { lane: string; token: number }, row: SendRow) => {
    const adapter = links.get(row.integration)?.adapter
    if (!adapter || !row.op) {
      // It may have arrived, and nobody is left who could tell.
      return move(lane, row, { to: 'unknown', reason: 'unconfirmed', detail: 'the integration is gone' })
    }
    const { latest } = deps.streams
    const stream = await settleStream(row, requestOf(row, row.op), { adapter, store, latest })
    if (stream === 'wait') return
    if (stream !== null && stream !== 'unknown') return move(lane, row, stream)
    if (stream === null && adapter.abilities.idempotentSend) return move(lane, row, { to: 'queued' })
    if (stream !== null || !adapter.reconcile)
      return settleUnknown(lane, row, 'interrupted before the platform confirmed')
    const found = await lookedUp(row)
    if (found.outcome === 'sent') return confirm(lane, row, found.receipt)
    if (found.outcome === 'absent') return move(lane, row, { to: 'queued' })
    return settleUnknown(lane, row, 'the platform could not tell whether it arrived')
  }

  /** What the platform itself says became of a send whose answer is lost. */
  const lookedUp = async (row: SendRow) => {
    const unknown = { outcome: 'unknown' } as const
    const adapter = links.get(row.integration)?.adapter
    if (!adapter?.reconcile || !row.op) return unknown
    return adapter.reconcile(requestOf(row, row.op)).catch(() => unknown)
  }

  const confirm = (
    lane: { lane: string; token: number },
    row: SendRow,
    { platformIds, conversation }: Receipt,
  ) => move(lane, row, { to: 'sent', platformIds, ...defined({ conversation }) })

  /** Resent at most once with a visible note, or left for the operator. */
  const settleUnknown = async (lane: { lane: string; token: number }, row: SendRow, detail: string) => {
    const again = row.op ? onceMore(row.op, row.attempts) : null
    const unknown = { to: 'unknown', reason: 'unconfirmed', detail } as const
    // In one commit: whoever waits for the row, or sends the same, must not find it given up in between.
    if (deps.settings().tunables.unknownPolicy === 'note' && again)
      await move(lane, row, unknown, { to: 'queued', op: again, reason: 'unconfirmed' })
    else await move(lane, row, unknown)
  }

  const move = async (
    lane: { lane: string; token: number },
    row: SendRow,
    ...steps: readonly Omit<SendMove, 'lane' | 'token' | 'id'>[]
  ) => {
    const moves = steps.map((to): SendMove => ({ lane: lane.lane, token: lane.token, id: row.id, ...to }))
    const [outcome] = await storeRetry.persist('settle a send', () => store.moveSends(moves))
    if (outcome === 'stale') letGo(lane.lane)
    const last = steps.at(-1)?.to
    // A part that fails for good takes the parts behind it along.
    if (last === 'failed' && row.group !== null) waiters.lookAgain(lane.lane)
    else if (last !== 'queued' && last !== 'sending') waiters.settled(row.id)
  }

  const isInWork = (lane: string) => lanes.get(lane)?.restingSince === null
  store.onHint((hint) => {
    // Another node sends this one.
    if (hint.kind === 'sends' && !isInWork(hint.lane)) waiters.lookAgain(hint.lane)
  })
  /** A platform that hangs does not hold up the stop: what is found in `sending` afterwards is settled then. */
  const finished = () =>
    new Promise<void>((resolve) => {
      const cancel = clock.after(STOP_GRACE_MS, resolve)
      void Promise.allSettled(running).then(() => {
        cancel()
        resolve()
      })
    })

  links.onAdded(() => drain.sweep())
  deps.cluster.onGone(() => drain.sweep())

  return {
    start() {
      drain.sweep()
    },
    async review() {
      const known = new Set((await store.counters()).map((counter) => counter.integration))
      closed = [...known].filter((id) => id !== '' && closedDoor(id) !== null)
      if (closed.length > 0) drain.sweep()
    },
    settled: (id, waitMs) => waiters.wait(id, waitMs),
    async stop() {
      storeRetry.hurry()
      await drain.stop()
      await finished()
      storeRetry.stop()
      await lanes.stop()
      waiters.stop()
    },
  }
}
