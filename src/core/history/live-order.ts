// ORDER AFTER A CONNECT. Messages from a time without connection are in the history, and the new connection may bring
// newer messages first. So after each connect the live messages of a place wait until the place was compared (`look`),
// for at most 30 seconds. They are received in order of arrival, and only then does the platform get its confirmation.
//
// A place that was compared once since the connect waits no more. After 30 seconds no place waits.
import {
  type Cancel,
  type Clock,
  defined,
  type HistoryPlace,
  type HistoryReader,
  type InboundEvent,
  type InboundMessage,
  SwitchboardError,
} from '../../contract/index.ts'
import type { LiveLink } from './place-walk.ts'

export const WAIT_AT_MOST_MS = 30_000
/** Limit of waiting events in memory. Beyond it, messages are received out of order. */
const MOST_WAITING = 1_000

export interface LiveOrder extends LiveLink {
  connected(): void
  /**
   * Null: the events may be received at once. Otherwise `ready` resolves when they may; call `done` after receiving
   * them. `ready` rejects with `store_unavailable` after a stop: the events were not confirmed, and the history has
   * them.
   */
  wait(events: readonly InboundEvent[]): { readonly ready: Promise<void>; done(): void } | null
  stop(): void
}

interface Gate {
  readonly open: Promise<void>
  release(problem?: Error): void
}

interface Waiting {
  readonly places: ReadonlySet<string>
  readonly received: Promise<void>
}

export function createLiveOrder(deps: {
  /** Absent: the platform has no history. */
  readonly reader: Pick<HistoryReader, 'livePlace'> | undefined
  readonly clock: Clock
  /** Compares one place now, and calls `looked` when it reaches the end. Never throws. */
  readonly look: (place: HistoryPlace) => Promise<void>
}): LiveOrder {
  const { reader, clock } = deps
  let connectedAt: number | null = null
  let connects = 0
  let stopped = false
  const looked = new Set<string>()
  /** The gates of the present connect, by place. An earlier gate is opened by its own look. */
  const gates = new Map<string, Gate>()
  const closed = new Set<Gate>()
  const waiting = new Set<Waiting>()
  /** The messages among the waiting events. */
  const keys = new Map<string, number>()

  const isOrdering = () => {
    const agoMs = connectedAt === null ? Number.POSITIVE_INFINITY : clock.now() - connectedAt
    return agoMs >= 0 && agoMs < WAIT_AT_MOST_MS && waiting.size < MOST_WAITING
  }

  const placeOf = (event: InboundEvent): HistoryPlace | null => {
    if (event.kind !== 'message' && event.kind !== 'edit' && event.kind !== 'delete') return null
    try {
      const { conversation, thread, messageId } = event
      return reader?.livePlace?.({ conversation, ...defined({ thread, messageId }) }) ?? null
    } catch {
      return null // the reader is external code: an event whose place it cannot name does not wait
    }
  }

  const gateOf = (place: HistoryPlace): Gate => {
    const before = gates.get(place.id)
    if (before !== undefined) return before
    let release: Gate['release'] = () => undefined
    const open = new Promise<void>((resolve, reject) => {
      const cancel: Cancel = clock.after(WAIT_AT_MOST_MS, () => release())
      release = (problem) => {
        cancel()
        if (gates.get(place.id) === gate) gates.delete(place.id)
        closed.delete(gate)
        if (problem === undefined) resolve()
        else reject(problem)
      }
    })
    const gate = { open, release: (problem?: Error) => release(problem) }
    gates.set(place.id, gate)
    closed.add(gate)
    void deps.look(place).finally(() => gate.release())
    return gate
  }

  const count = (events: readonly InboundEvent[], by: 1 | -1) => {
    for (const event of events) {
      if (event.kind !== 'message' || event.messageId === undefined) continue
      const key = keyOf(event)
      const left = (keys.get(key) ?? 0) + by
      if (left > 0) keys.set(key, left)
      else keys.delete(key)
    }
  }

  return {
    connectedAt: () => connectedAt,
    connects: () => connects,
    waits: (event) => keys.has(keyOf(event)),
    looked(place, under) {
      if (under !== connects) return
      looked.add(place)
      gates.get(place)?.release()
    },
    connected() {
      connectedAt = clock.now()
      connects += 1
      looked.clear()
      gates.clear()
    },
    wait(events) {
      if (stopped || reader?.livePlace === undefined || (waiting.size === 0 && !isOrdering())) return null
      const places = new Map(
        events.flatMap((event) => placeOf(event) ?? []).map((place) => [place.id, place]),
      )
      const ahead = [...waiting].filter((one) => [...one.places].some((place) => places.has(place)))
      const unlooked = isOrdering() ? [...places.values()].filter(({ id }) => !looked.has(id)) : []
      if (ahead.length === 0 && unlooked.length === 0) return null
      count(events, 1)
      let done: () => void = () => undefined
      const received = new Promise<void>((resolve) => {
        done = resolve
      })
      const mine: Waiting = { places: new Set(places.keys()), received }
      waiting.add(mine)
      const ready = Promise.all([
        ...unlooked.map((place) => gateOf(place).open),
        ...ahead.map((one) => one.received),
      ]).then(() => undefined)
      return {
        ready,
        done() {
          waiting.delete(mine)
          count(events, -1)
          done()
        },
      }
    },
    stop() {
      stopped = true
      const problem = new SwitchboardError(
        'store_unavailable',
        'the integration stops: the platform sends it again',
      )
      for (const gate of [...closed]) gate.release(problem)
    },
  }
}

const keyOf = ({ conversation, messageId }: Pick<InboundMessage, 'conversation' | 'messageId'>) =>
  JSON.stringify([conversation, messageId])
