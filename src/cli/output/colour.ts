// Colour for people: decided once per stream from flags, environment and whether a terminal is listening.
import picocolors from 'picocolors'

export type Paint = ReturnType<typeof picocolors.createColors>

export interface ColourFacts {
  /** `--color` or `--no-color`; undefined when neither was given. */
  readonly flag: boolean | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isTty: boolean
}

/** A flag wins, then NO_COLOR, then FORCE_COLOR, then the terminal. A pipe never gets colour by itself. */
export function wantsColour(facts: ColourFacts): boolean {
  if (facts.flag !== undefined) return facts.flag
  if (facts.env.NO_COLOR !== undefined && facts.env.NO_COLOR !== '') return false
  const force = facts.env.FORCE_COLOR
  if (force !== undefined && force !== '') return force !== '0' && force !== 'false'
  return facts.isTty && facts.env.TERM !== 'dumb'
}

export function createPaint(enabled: boolean): Paint {
  return picocolors.createColors(enabled)
}

const GOOD = new Set([
  'answered',
  'sent',
  'relayed',
  'up',
  'connected',
  'listening',
  'ready',
  'ok',
  'attached',
])
const BAD = new Set([
  'failed',
  'refused',
  'expired',
  'undeliverable',
  'down',
  'broken',
  'absent',
  'unreachable',
  'failing',
])
const WAITING = new Set([
  'queued',
  'handed',
  'seen',
  'sending',
  'pending',
  'unknown',
  'connecting',
  'waiting',
])

/** A state in the colour of its nature; the word itself always stays, so nothing depends on colour. */
export function paintState(paint: Paint, state: string): string {
  if (GOOD.has(state)) return paint.green(state)
  if (BAD.has(state)) return paint.red(state)
  if (WAITING.has(state)) return paint.yellow(state)
  return state
}
