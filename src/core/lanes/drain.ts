// DRAIN: the one loop under both queues. It gathers lanes that may have work, takes them in batches, and passes them to
// the queue's own code. Hints make it fast. Sweeps make it reliable: a hint may be lost, a row may not.
import {
  type Cancel,
  type Clock,
  defined,
  type Hint,
  type Logger,
  type Store,
  type Work,
} from '../../contract/index.ts'
import { createKeyedTimers } from '../keyed-timers.ts'
import type { Pressure } from './pressure.ts'
import { createRoundRobinLanes } from './round-robin-lanes.ts'

export interface DrainQueue<Taken extends { readonly lane: string }> {
  readonly kind: 'turns' | 'sends'
  /** Under pressure, the number of lanes taken for each incoming message. */
  readonly share: number
  /** Agents or integrations that this node can reach now. */
  reachable(): readonly string[]
  /** Whether this node acts on another node's hint; if not, the next sweep finds the work. Absent: always. */
  isMine?(work: Work, from: string): boolean
  /** `pressed`: take little of each lane. */
  take(lanes: readonly Work[], pressed: boolean): Promise<readonly Taken[]>
  /** Handles one taken lane; must not throw. The lane is not taken again before this resolves. */
  handle(taken: Taken): Promise<void>
}

export interface DrainDeps {
  readonly store: Pick<Store, 'findWork' | 'onHint'> & { readonly shared?: boolean } & Partial<
      Pick<Store, 'onCommit'>
    >
  readonly clock: Clock
  readonly log: Logger
  /** Absent: never under pressure. */
  readonly pressure?: Pressure
}

export interface Drain {
  /** This lane may have work now. Cheap: lanes gather until the next turn of the event loop. */
  wake(work: Work): void
  /** Wakes the lane later. It replaces an earlier appointment of that lane. */
  wakeAfter(work: Work, delayMs: number): void
  /** Whether a hint for this lane arrived during its handling. Then the lane is taken again. */
  isWanted(lane: string): boolean
  /** Looks for lanes without a hint: at start and periodically, or for one scope when it becomes reachable. */
  sweep(scope?: string): void
  /** Resolves when the lanes being taken now are with the queue. */
  taken(): Promise<void>
  /**
   * Stops taking lanes. Lanes that are being taken are still handled. Resolves when they are with the queue, or after
   * a grace period.
   */
  stop(): Promise<void>
}

// Intake goes first. A drain round takes a bounded number of lanes, then the loop is free for requests. When more
// arrives than the loop can process, rounds are rarer and take a share of the arrivals. So work that can wait does not
// delay the confirmation of a message. A round takes at least one lane, so work continues.
const LANES_PER_ROUND = 32
const PRESSED_EVERY_MS = 5
const SWEEP_EVERY_MS = 5_000
/** Where nodes may die and leave lanes behind. With their lease, this decides how soon the lanes move. */
const SHARED_SWEEP_MS = 2_500
const SWEEP_PAGE = 500
const STOP_GRACE_MS = 2_000

export function createDrain<Taken extends { readonly lane: string }>(
  queue: DrainQueue<Taken>,
  deps: DrainDeps,
): Drain {
  const waiting = createRoundRobinLanes()
  // Lanes between their request and the end of their handling. If one were requested again, the store would treat this
  // node as a new owner, and the current work as left behind.
  const underway = new Set<string>()
  const wanted = new Map<string, string>()
  /** Lanes taken by the very commit that hints at them. Their hint says nothing new. */
  const early = new Set<string>()
  const appointments = createKeyedTimers(deps.clock)
  const takes = new Set<Promise<void>>()
  let scheduled = false
  let stopped = false
  let abandoned = false
  let sweeping = false
  /** The scope of the next sweep: everything, or some scopes. */
  let sweepAll = false
  const sweepOf = new Set<string>()
  /** Messages since the last round, counted by hints. */
  let arrivals = 0

  const isPressed = () => deps.pressure?.now() ?? false

  const schedule = () => {
    if (scheduled || stopped || waiting.isEmpty()) return
    scheduled = true
    deps.clock.after(isPressed() ? PRESSED_EVERY_MS : 0, () => {
      scheduled = false
      follow(round())
    })
  }

  const follow = (work: Promise<void>) => {
    const taking = work.finally(() => takes.delete(taking))
    takes.add(taking)
  }

  /** Takes lanes in the same commit that creates their work. */
  const earlyRound = async (hinted: readonly Work[]) => {
    for (const work of hinted) {
      waiting.add(work)
      early.add(work.lane)
    }
    const committed = () => {
      for (const { lane } of hinted) early.delete(lane)
    }
    await round(async () => {
      committed()
      // Callers of the commit's verbs hear of it first, as if the lanes were taken afterwards.
      await new Promise<void>((resolve) => deps.clock.after(0, resolve))
    }).finally(committed)
  }

  const round = async (taken?: () => Promise<void>) => {
    if (stopped) return
    const pressed = isPressed()
    const share = Math.max(1, Math.ceil(arrivals * queue.share))
    const most = pressed ? Math.min(LANES_PER_ROUND, share) : LANES_PER_ROUND
    arrivals = 0
    const lanes = waiting.take(most)
    for (const { lane } of lanes) underway.add(lane)
    if (lanes.length === 0) return
    if (queue.kind === 'turns') deps.pressure?.took(lanes.length)
    try {
      const all = await queue.take(lanes, pressed)
      await taken?.()
      for (const one of all) {
        // The stop no longer waits, and the lane was released. Its next owner settles what was taken.
        if (abandoned) break
        // This also runs after a stop: what a commit took belongs to no other node.
        void queue.handle(one).finally(() => done(one.lane))
      }
    } catch (thrown) {
      // The store is unavailable. The rows remain, and a later sweep finds them.
      deps.log.warn({ queue: queue.kind, error: String(thrown) }, 'lanes could not be taken; will try again')
      for (const work of lanes) {
        done(work.lane)
        drain.wakeAfter(work, 1_000)
      }
    }
    schedule()
  }

  const done = (lane: string) => {
    underway.delete(lane)
    const scope = wanted.get(lane)
    if (scope === undefined) return
    wanted.delete(lane)
    drain.wake({ lane, scope })
  }

  const sweepOnce = async () => {
    const reachable = queue.reachable()
    const scopes = sweepAll ? reachable : reachable.filter((scope) => sweepOf.has(scope))
    sweepAll = false
    sweepOf.clear()
    if (scopes.length === 0) return
    let after: string | undefined
    for (;;) {
      const page: readonly Work[] = await deps.store.findWork(queue.kind, scopes, {
        limit: SWEEP_PAGE,
        ...defined({ after }),
      })
      for (const work of page) drain.wake(work)
      after = page.at(-1)?.lane
      if (page.length < SWEEP_PAGE || stopped) return
      // Between two pages the process handles other work.
      await new Promise<void>((resolve) => deps.clock.after(0, resolve))
    }
  }

  const drain: Drain = {
    wake(work) {
      if (underway.has(work.lane)) wanted.set(work.lane, work.scope)
      else waiting.add(work)
      schedule()
    },
    isWanted: (lane) => wanted.has(lane),
    wakeAfter(work, delayMs) {
      if (stopped) return
      appointments.set(work.lane, delayMs, () => drain.wake(work))
    },
    sweep(scope) {
      if (stopped) return
      if (scope === undefined) sweepAll = true
      else sweepOf.add(scope)
      if (sweeping) return
      sweeping = true
      // Calls in one turn of the event loop share one sweep.
      Promise.resolve()
        .then(sweepOnce)
        .catch((thrown) =>
          deps.log.warn({ queue: queue.kind, error: String(thrown) }, 'sweep failed; will try again'),
        )
        .finally(() => {
          sweeping = false
          if (sweepAll) drain.sweep()
          else for (const next of sweepOf) drain.sweep(next)
        })
    },
    async taken() {
      await Promise.allSettled(takes)
    },
    async stop() {
      stopped = true
      appointments.clear()
      waiting.clear()
      wanted.clear()
      cancelSweep()
      if (takes.size === 0) return
      // An unavailable store does not delay the stop.
      await new Promise<void>((resolve) => {
        const cancel = deps.clock.after(STOP_GRACE_MS, () => {
          abandoned = true
          resolve()
        })
        void Promise.allSettled(takes).then(() => {
          cancel()
          resolve()
        })
      })
    },
  }

  deps.store.onCommit?.((hints) => {
    if (stopped) return
    const ours = hints.filter((hint) => isDue(hint))
    const free = ours.filter(({ lane, scope }) => !underway.has(lane) && queue.reachable().includes(scope))
    if (free.length > 0 && !isPressed()) follow(earlyRound(free))
  })
  const isDue = (hint: Hint): hint is Hint & { readonly kind: 'turns' | 'sends' } =>
    hint.kind === queue.kind && !(hint.kind === 'sends' && hint.settled)

  deps.store.onHint((hint: Hint, from: string | null) => {
    if (hint.kind === 'turns' && from === null) arrivals += 1
    if (hint.kind === 'missed') drain.sweep()
    if (!isDue(hint) || stopped || (from === null && early.delete(hint.lane))) return
    if (!queue.reachable().includes(hint.scope)) return
    // A hint may overtake the answer to our own take. A lane that is being taken may already be ours.
    const isOurs = from === null || queue.isMine === undefined || underway.has(hint.lane)
    if (isOurs || queue.isMine?.(hint, from)) drain.wake(hint)
  })

  let cancelSweep: Cancel = () => undefined
  const keepSweeping = () => {
    cancelSweep = deps.clock.after(deps.store.shared ? SHARED_SWEEP_MS : SWEEP_EVERY_MS, () => {
      if (stopped) return
      drain.sweep()
      keepSweeping()
    })
  }
  keepSweeping()
  return drain
}
