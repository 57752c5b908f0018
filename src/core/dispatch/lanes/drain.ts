// DRAIN: the one loop under both queues. It gathers lanes that may have work, takes them in batches, and lets the
// queue's own code do the rest. Hints make it quick, sweeps make it sure: a hint may be lost, a row may not.
import {
  type Cancel,
  type Clock,
  defined,
  type Hint,
  type Logger,
  type Store,
  type Work,
} from '../../../contract/index.ts'
import { createKeyedTimers } from '../../keyed-timers.ts'
import type { Pressure } from './pressure.ts'
import { createDealtLanes } from './round-robin-lanes.ts'

export interface DrainQueue<Taken extends { readonly lane: string }> {
  readonly kind: 'turns' | 'sends'
  /** Lanes for each message that comes in, under pressure. */
  readonly share: number
  /** Agents or integrations that this node can reach now. */
  reachable(): readonly string[]
  /** Whether another node's hint is to be acted on here; otherwise the next sweep looks. Absent: always. */
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
  /** Absent: never pressed. */
  readonly pressure?: Pressure
}

export interface Drain {
  /** This lane may have work now. Cheap; gathers until the next turn of the loop. */
  wake(work: Work): void
  /** Wakes the lane at a later time (replaces an earlier appointment of that lane). */
  wakeAfter(work: Work, delayMs: number): void
  /** A hint came for this lane while it is being handled: it will be taken again. */
  isWanted(lane: string): boolean
  /** Looks for lanes that no hint told about: at start, and every so often; of one scope, when it can be reached anew. */
  sweep(scope?: string): void
  /** Resolves when what is being taken at this moment is in the queue's hands. */
  taken(): Promise<void>
  /** Nothing is taken any more; what was being taken is handled. Resolves when it is in the queue's hands. */
  stop(): Promise<void>
}

// Intake goes first: a drain round takes a bounded number of lanes, then the loop is free for requests. While more comes
// in than the loop can work off, rounds are rarer and take a share of what came in, so that nobody is kept waiting for
// the word "received" by work that can wait; never less than one lane, so that the work goes on.
const LANES_PER_ROUND = 32
const PRESSED_EVERY_MS = 5
const SWEEP_EVERY_MS = 5_000
/** Where others may die and leave lanes behind: with their lease it decides how soon these move. */
const SHARED_SWEEP_MS = 2_500
const SWEEP_PAGE = 500
const STOP_GRACE_MS = 2_000

export function createDrain<Taken extends { readonly lane: string }>(
  queue: DrainQueue<Taken>,
  deps: DrainDeps,
): Drain {
  const waiting = createDealtLanes()
  // A lane between its request and the end of its handling. Asked for a second time meanwhile, the store would take us
  // for a new owner, and what we are doing right now for something that was left behind.
  const underway = new Set<string>()
  const wanted = new Map<string, string>()
  /** Being taken by the commit that hints at them: its hint tells nothing new. */
  const early = new Set<string>()
  const appointments = createKeyedTimers(deps.clock)
  const takes = new Set<Promise<void>>()
  let scheduled = false
  let stopped = false
  let abandoned = false
  let sweeping = false
  /** What the next sweep asks for: everything, or some scopes. */
  let sweepAll = false
  const sweepOf = new Set<string>()
  /** Messages that came in since the last round, as far as hints tell. */
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

  /** Those whose work is being committed are taken by that very commit. */
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
      // Whoever called the verbs of the commit hears of it first, as if the lanes were taken after it.
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
        // Nobody waits any more, and the lane has been given back: its next owner settles what was taken.
        if (abandoned) break
        // Also when we were stopped meanwhile: what a commit took belongs to nobody else.
        void queue.handle(one).finally(() => done(one.lane))
      }
    } catch (thrown) {
      // The store is away: the rows are still there, and a later sweep finds them.
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
      // Between two pages the process takes what came meanwhile.
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
      // Those that come in one turn of the loop are asked for together.
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
      // A store that is away does not hold up the stop.
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
    // A hint may overtake the answer to our own take: a lane that is being taken may already be ours.
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
