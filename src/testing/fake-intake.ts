// A door in for adapter tests: keeps what it was given and answers as told, in place of the river.
import type { InboundEvent, PlatformIntake, Received } from '../contract/index.ts'

export interface FakeIntake extends PlatformIntake {
  /** Everything received, in order. */
  readonly events: readonly InboundEvent[]
  readonly cursors: readonly string[]
  /** The events that were handed in and not received, in order. */
  readonly refused: readonly InboundEvent[]
  /** How often a link was said to be made. */
  connects(): number
  /** What to answer next and from then on; called per event. */
  answerWith(answer: (event: InboundEvent, index: number) => Partial<Received>): void
  /** From now on `receive` rejects with this; null heals it. */
  failWith(error: Error | null): void
  /** The next `receive` with events rejects with this. */
  failNext(error: Error): void
  /** Holds every `receive` back until the returned function is called. */
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
