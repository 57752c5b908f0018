// SENDER: outbox → platform. It sends one message of a conversation at a time, in order. It holds the lanes, asks for
// the platform's pace before it takes a row, and passes each row to sending.ts.
import {
  defined,
  integrationById,
  type LaneRequest,
  LEASE_MS,
  type Logger,
  placeOfLane,
  type SendRow,
  type TakenSend,
  type Work,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { createDrain, type Drain } from '../lanes/drain.ts'
import { createLaneKeeper, type KeptLane } from '../lanes/lane-keeper.ts'
import type { Pressure } from '../lanes/pressure.ts'
import { createStoreRetry } from '../store-retry.ts'
import { createSending, type SendingDeps } from './sending.ts'

export interface SenderDeps extends Omit<SendingDeps, 'storeRetry' | 'closedBy' | 'letGo' | 'wakeAfter'> {
  readonly log: Logger
  readonly cluster: Pick<Cluster, 'isAlive' | 'onGone'>
  /** Whether intake needs the event loop more than sending does. */
  readonly pressure?: Pressure
}

export interface Sender {
  start(): void
  /** Called when the configuration changed. Messages for a removed or disabled integration end with that reason. */
  review(): Promise<void>
  stop(): Promise<void>
}

type Taken = (TakenSend | Paced) & { readonly scope: string; readonly askedAt: number }

/** The platform admits no message to this conversation now. The row was not taken and stays `queued`. */
interface Paced {
  readonly lane: string
  readonly outcome: 'paced'
  readonly waitMs: number
}

const STOP_GRACE_MS = 10_000
const RESTARTING_MS = 1_000

export function createSender(deps: SenderDeps): Sender {
  const { store, clock, log, links, waiters } = deps
  const storeRetry = createStoreRetry(clock, log, store)
  const lanes = createLaneKeeper<KeptLane>({
    kind: 'sends',
    store,
    clock,
    log,
    leaseMs: LEASE_MS,
    // The new holder settles the messages under way.
    lost: (hold) => lanes.forget(hold),
  })
  const running = new Set<Promise<void>>()
  /** Integrations with rows in this store that the configuration does not allow to send. */
  let closed: readonly string[] = []

  const drain: Drain = createDrain<Taken>(
    {
      kind: 'sends',
      // One message of a lane at a time, so many lanes are needed to keep up with the agents.
      share: 1 / 3,
      reachable: () => (closed.length === 0 ? links.reachable() : [...links.reachable(), ...closed]),
      // A node sends its own messages, unless only this node can send them.
      isMine: ({ lane, scope }, from) =>
        lanes.knows(lane) ||
        links.get(scope)?.adapter.abilities.sendFrom === 'link-holder' ||
        !deps.cluster.isAlive(from),
      take,
      handle(taken) {
        const work = handle(taken).catch((thrown) => {
          log.error({ error: String(thrown) }, 'sending failed')
          // The lane is released. Its next holder finds rows left in `sending` and settles them.
          letGo(taken.lane)
        })
        running.add(work)
        return work.finally(() => running.delete(work))
      },
    },
    { store, clock, log, ...defined({ pressure: deps.pressure }) },
  )

  const sending = createSending({
    ...deps,
    storeRetry,
    closedBy: (id) => closedBy(id),
    letGo: (lane) => letGo(lane),
    wakeAfter: drain.wakeAfter,
  })

  /** The take commits `sending`, so a row that must wait for the platform's pace is not taken. */
  async function take(wanted: readonly Work[]): Promise<readonly Taken[]> {
    const askedAt = clock.now()
    const paces = wanted.map((work) => ({ ...work, askedAt, waitMs: placeTaken(work) }))
    const free = paces.filter(({ waitMs }) => waitMs === 0)
    const requests = free.map(({ lane }) => {
      const hold = lanes.get(lane)
      if (!hold) return { lane }
      hold.restingSince = null // otherwise it might be released before the answer arrives
      return { lane, token: hold.token }
    })
    const results = await taking(requests).catch((thrown) => {
      for (const work of free) giveBackPlace(work)
      throw thrown
    })
    const taken = free.map(
      (work, at): Taken => ({ ...(results[at] as TakenSend), scope: work.scope, askedAt }),
    )
    for (const one of taken) if (one.outcome !== 'taken' || !one.sending) giveBackPlace(one)
    const paced = paces.filter(({ waitMs }) => waitMs > 0)
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
    if (!links.get(taken.scope) && !closedBy(taken.scope)) return standBy(hold, taken.sending)
    let laneHasMore = taken.unsettled.length > 0
    for (const row of taken.unsettled) await sending.recoverSend(taken, row)
    if (taken.sending && lanes.isOver(hold)) {
      lanes.forget(hold)
      return drain.wake(work)
    }
    if (taken.sending) {
      const ended = await sending.sendOne(taken, taken.sending)
      laneHasMore = ended === 'open' || (ended === 'more' && isDue(taken.nextDueAt))
    }
    if (laneHasMore || drain.isWanted(taken.lane)) return drain.wake(work)
    if (taken.nextDueAt !== null) drain.wakeAfter(work, taken.nextDueAt - clock.now())
    return letRest(taken.lane)
  }

  const kept = ({
    lane,
    token,
    askedAt,
  }: Pick<KeptLane, 'lane' | 'token'> & { readonly askedAt: number }): KeptLane => {
    const held = lanes.get(lane)
    const hold = held?.token === token ? held : { lane, token, until: 0, restingSince: null }
    lanes.keep(hold, askedAt)
    return hold
  }

  /** The lane has nothing to send now. */
  const letRest = (lane: string): void => {
    const hold = lanes.get(lane)
    if (hold) lanes.rest(hold)
  }

  const letGo = (lane: string): void => {
    const hold = lanes.get(lane)
    if (hold) lanes.forget(hold)
  }

  /** The adapter is being restarted. No message is lost, and `onAdded` finds the lane again. */
  const standBy = async (hold: KeptLane, row: SendRow | null) => {
    if (row) {
      const detail = 'the integration is being started'
      const back = {
        to: 'queued',
        reason: 'platform_unavailable',
        detail,
        notBeforeMs: RESTARTING_MS,
      } as const
      await sending.move(hold, row, back)
    }
    await lanes.release([hold])
  }

  const isDue = (at: number | null) => at !== null && at <= clock.now()

  const closedBy = (id: string) => {
    const integration = integrationById(deps.settings(), id)
    if (!integration) return 'integration_missing' as const
    return integration.enabled ? null : ('integration_disabled' as const)
  }

  const isInWork = (lane: string) => lanes.get(lane)?.restingSince === null
  store.onHint((hint) => {
    // Another node sends this one.
    if (hint.kind === 'sends' && !isInWork(hint.lane)) waiters.lookAgain(hint.lane)
  })
  /** A platform that hangs does not delay the stop. Rows left in `sending` are settled later. */
  const finished = () =>
    new Promise<void>((resolve) => {
      const cancel = clock.after(STOP_GRACE_MS, resolve)
      void Promise.allSettled(running).then(() => {
        cancel()
        resolve()
      })
    })

  links.onAdded((integration) => drain.sweep(integration))
  deps.cluster.onGone(() => drain.sweep())

  return {
    start() {
      drain.sweep()
    },
    async review() {
      const integrations = new Set((await store.counters()).map((counter) => counter.integration))
      closed = [...integrations].filter((id) => id !== '' && closedBy(id) !== null)
      if (closed.length > 0) drain.sweep()
    },
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
