// Refusals that several nouns share: what is not there, and what cannot be moved.
import { type Settings, SwitchboardError } from '../contract/index.ts'

export function found<T>(value: T | null, what: string): T {
  if (value === null) throw new SwitchboardError('not_found', `there is no such ${what}`)
  return value
}

/** The error for a turn or send that a verb does not move. `state` undefined: it does not exist. */
export function cannotMove(verb: string, id: string, state: string | undefined): SwitchboardError {
  return state === undefined
    ? new SwitchboardError('not_found', `there is no "${id}"`, {
        hint: 'list them with: switchboard turns, or switchboard outbox',
      })
    : new SwitchboardError(
        'conflict',
        `${id} is ${state}: it cannot be ${verb === 'bury' ? 'buried' : `${verb.replace(/y$/, 'i')}ed`}`,
      )
}

/** Throws `not_found` for an integration that is not configured. */
export function demandIntegration({ integrations }: Settings, id: string): void {
  if (integrations.some((one) => one.id === id)) return
  throw new SwitchboardError('not_found', `there is no integration "${id}"`, {
    hint: `integrations: ${integrations.map((one) => one.id).join(', ')}`,
  })
}
