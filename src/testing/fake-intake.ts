// An intake for adapter tests, in place of the river. It keeps the events and answers as the test says.
import type { InboundEvent, PlatformIntake, Received } from '../contract/index.ts'

export interface FakeIntake extends PlatformIntake {
  /** All received events, in order. */
  readonly events: readonly InboundEvent[]
  readonly cursors: readonly string[]
  /** The events that were handed in but not received, in order. */
  readonly refused: readonly InboundEvent[]
  /** How often the adapter reported a connection. */
  connects(): number
  /** Sets the answer for each event from now on. */
  answerWith(answer: (event: InboundEvent, index: number) => Partial<Received>): void
  /** Makes `receive` reject with this from now on. Null ends that. */
  failWith(error: Error | null): void
  /** Makes the next `receive` with events reject with this. */
  failNext(error: Error): void
  /** Holds every `receive` until the returned function is called. */
  hold(): () => void
}

export function createFakeIntake(): FakeIntake {
  const events: InboundEvent[] = []
  const cursors: string[] = []
  const refused: InboundEvent[] = []
  let answer: (event: InboundEvent, index: number) => Partial<Received> = () => ({})
  let failure: Error | null = null
  let nextFailure: Error | null = null
  let held: Promise<void> | null = null
  let connects = 0
  return {
    connects: () => connects,
    connected() {
      connects += 1
    },
    events,
    cursors,
    refused,
    answerWith(next) {
      answer = next
    },
    failWith(error) {
      failure = error
    },
    failNext(error) {
      nextFailure = error
    },
    hold() {
      let release = () => {}
      held = new Promise<void>((resolve) => {
        release = () => {
          held = null
          resolve()
        }
      })
      return () => release()
    },
    async receive(given, options) {
      if (held !== null) await held
      const problem = failure ?? (given.length > 0 ? nextFailure : null)
      if (problem !== null) {
        if (problem === nextFailure) nextFailure = null
        refused.push(...given)
        throw problem
      }
      if (options?.cursor !== undefined) cursors.push(options.cursor)
      return given.map((event) => {
        events.push(event)
        return { ...byDefault(event, events.length), ...answer(event, events.length - 1) }
      })
    },
  }
}

function byDefault(event: InboundEvent, count: number): Received {
  const base = { id: `t_fake_${count.toString(36)}`, duplicate: false, session: null } as const
  if (event.kind === 'filtered') return { ...base, id: null, state: 'consumed', reason: 'filtered' }
  return event.kind === 'unparsable'
    ? { ...base, state: 'refused', reason: 'unparsable' }
    : { ...base, state: 'queued', reason: null }
}
