// The modes of an ACP agent, and which of them run tools without asking a person. The protocol gives a mode an id, a name and
// a description of the agent's own, so those of the known agents are known by id, and others by what they say of themselves.

export interface SessionMode {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface SessionModes {
  /** Null: the agent has none. */
  readonly current: string | null
  readonly available: readonly SessionMode[]
}

export const NO_MODES: SessionModes = { current: null, available: [] }

const UNASKED_IDS = [
  ...['auto', 'full-access', 'agent', 'agent-full-access'],
  ...['acceptedits', 'dontask', 'bypasspermissions', 'autoedit', 'yolo', 'always-approve', 'never'],
]
const UNASKED_WORDS = [
  'without asking',
  'without approval',
  'without confirmation',
  'without permission',
  'auto-approve',
  'automatically approve',
  'auto-accept',
  'automatically accept',
  'bypass',
  'skip permission',
  'never ask',
]
const MOST_MODES = 50

/** What the agent says of its modes, in whatever form it says it. */
export function readModes(answer: unknown): SessionModes {
  const { modes } = record(answer)
  const { currentModeId, availableModes } = record(modes)
  const listed = Array.isArray(availableModes) ? availableModes.slice(0, MOST_MODES) : []
  return {
    current: typeof currentModeId === 'string' ? currentModeId : null,
    available: listed.flatMap((one) => {
      const { id, name, description } = record(one)
      return typeof id === 'string' ? [{ id, name: words(name) || id, description: words(description) }] : []
    }),
  }
}

/** Whether tools may run in this mode that no person was asked about. */
export function runsUnasked(id: string, { available }: SessionModes = NO_MODES): boolean {
  const mode = available.find((one) => one.id === id)
  const said = `${mode?.name ?? ''} ${mode?.description ?? ''}`.toLowerCase()
  return UNASKED_IDS.includes(id.toLowerCase()) || UNASKED_WORDS.some((one) => said.includes(one))
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 500) : ''
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
