// Passes a server's pushes to the intake, in order. A notification has no acknowledgement and is never repeated. While
// the store is away, a limited number waits here. Dropped ones are counted, and recorded later.
import type { Cancel, Clock, InboundEvent, Logger, PlatformIntake, Random } from '../../contract/index.ts'
import { backoffMs } from '../../kit/index.ts'

export interface Arrivals {
  push(event: InboundEvent): void
  waiting(): number
  /** The number of dropped ones that are not recorded yet. */
  lost(): number
  /** Tries once more to store what waits. */
  stop(): Promise<void>
}

export interface ArrivalsDeps {
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly log: Logger
  readonly random: Random
  /** Creates the event that records a dropped one. */
  readonly dropped: () => InboundEvent
  /** True: much waits, so the server should be paused. False: it may continue. */
  readonly pressure: (full: boolean) => void
}

const FULL = 2_000
const FULL_CHARS = 4 * 1_048_576
const MOST_WAITING = 10_000
const MOST_WAITING_CHARS = 16 * 1_048_576
const BATCH = 1_024
const BATCH_CHARS = FULL_CHARS
const RETRY = { baseMs: 100, maxMs: 5_000 }
const STOP_MS = 5_000

export function createArrivals(deps: ArrivalsDeps): Arrivals {
  const queue: { readonly event: InboundEvent; readonly chars: number }[] = []
  let chars = 0
  let lost = 0
  let running: Promise<void> | null = null
  let wake: () => void = () => undefined
  let stopped = false
  let full = false

  const waitABit = (failures: number) =>
    new Promise<void>((resolve) => {
      const cancel: Cancel = deps.clock.after(backoffMs(failures, RETRY, deps.random), resolve)
      wake = () => {
        cancel()
        resolve()
      }
    })

  const press = (now: boolean) => {
    full = now
    deps.pressure(now)
  }

  const nextBatch = () => {
    let end = 0
    for (let size = 0; end < Math.min(BATCH, queue.length); end++) {
      size += queue[end]?.chars ?? 0
      if (end > 0 && size > BATCH_CHARS) break
    }
    return queue.slice(0, end)
  }

  const run = async () => {
    for (let failures = 0; queue.length > 0 || lost > 0; ) {
      const batch = nextBatch()
      // The dropped ones came after those that wait.
      const tellOfLost = batch.length === queue.length ? Math.min(lost, BATCH) : 0
      const told = Array.from({ length: tellOfLost }, deps.dropped)
      try {
        await deps.intake.receive([...batch.map(({ event }) => event), ...told])
        queue.splice(0, batch.length)
        chars -= batch.reduce((sum, one) => sum + one.chars, 0)
        lost -= tellOfLost
        if (full && queue.length < FULL / 2 && chars < FULL_CHARS / 2) press(false)
        failures = 0
      } catch (thrown) {
        failures += 1
        const problem = String(thrown)
        if (failures === 1)
          deps.log.warn({ problem, waiting: queue.length }, 'messages of a channel server wait')
        if (stopped) break
        await waitABit(failures)
      }
    }
  }

  const start = () => {
    running ??= run().finally(() => {
      running = null
      if ((queue.length > 0 || lost > 0) && !stopped) start()
    })
  }

  return {
    push(event) {
      const size = weightOf(event)
      // A single event is accepted at any size, because the transport limits it.
      const tooMuch = queue.length > 0 && chars + size > MOST_WAITING_CHARS
      if (queue.length >= MOST_WAITING || tooMuch) lost += 1
      else {
        // The id is assigned once, here. A failed commit may have held, so a second try must count as a duplicate.
        queue.push({ event: { ...event, messageId: event.messageId ?? deps.random.uuid() }, chars: size })
        chars += size
      }
      if (!full && (queue.length >= FULL || chars >= FULL_CHARS)) press(true)
      if (!stopped) start()
    },
    waiting: () => queue.length,
    lost: () => lost,
    async stop() {
      stopped = true
      wake()
      let cancel: Cancel = () => undefined
      const late = new Promise<void>((resolve) => {
        cancel = deps.clock.after(STOP_MS, resolve)
      })
      if (running) await Promise.race([running, late])
      cancel()
      const left = queue.length + lost
      if (left > 0) deps.log.error({ left }, 'messages of a channel server were not stored')
    },
  }
}

function weightOf(event: InboundEvent): number {
  if (event.kind !== 'message') return 0
  return Object.values(event.meta ?? {}).reduce((sum, value) => sum + value.length, event.text.length)
}
