// The modes of an ACP agent, and which of them ask a person before tools run. In the protocol a mode has an id, a name
// and a description, and none of them says whether it asks. So only modes of agents that were examined are judged. The
// words of other agents prove nothing.

export interface SessionMode {
  readonly id: string
  readonly name: string
  readonly description: string
}

export interface SessionModes {
  /** The agent's name in the protocol. */
  readonly agent: string
  /** Null: the agent has none. */
  readonly current: string | null
  readonly available: readonly SessionMode[]
}

export const NO_MODES: SessionModes = { agent: '', current: null, available: [] }

/** `asks`: a person is asked first. `unasked`: tools run without asking. */
export type ModeJudgement = 'asks' | 'unasked' | 'not-known'

interface KnownModes {
  readonly asks: readonly string[]
  readonly unasked: readonly string[]
}

const CLAUDE: KnownModes = {
  asks: ['default', 'plan'],
  unasked: ['acceptEdits', 'auto', 'dontAsk', 'bypassPermissions'],
}

/** By the agent's name in the protocol, without the scope of its package. */
const KNOWN: Readonly<Record<string, KnownModes>> = {
  'claude-code-acp': CLAUDE,
  'claude-agent-acp': CLAUDE,
  'codex-acp': { asks: ['read-only'], unasked: ['auto', 'agent', 'full-access', 'agent-full-access'] },
  'gemini-cli': { asks: ['default', 'plan'], unasked: ['autoEdit', 'yolo'] },
  // In `auto` a model judges first. A person is asked only if the model is not sure.
  'qwen-code': { asks: ['default', 'plan'], unasked: ['auto', 'auto-edit', 'yolo'] },
}
const MOST_MODES = 50

/** Reads the modes from an agent's answer, in any form. */
export function readModes(answer: unknown, agent: string): SessionModes {
  const { modes } = record(answer)
  const { currentModeId, availableModes } = record(modes)
  const listed = Array.isArray(availableModes) ? availableModes.slice(0, MOST_MODES) : []
  return {
    agent,
    current: typeof currentModeId === 'string' ? currentModeId : null,
    available: listed.flatMap((one) => {
      const { id, name, description } = record(one)
      return typeof id === 'string' ? [{ id, name: words(name) || id, description: words(description) }] : []
    }),
  }
}

/** Whether a mode of this agent asks. */
export function judgeMode(id: string, { agent }: Pick<SessionModes, 'agent'>): ModeJudgement {
  const name = agent.slice(agent.lastIndexOf('/') + 1)
  return Object.hasOwn(KNOWN, name) ? judge(id, [KNOWN[name] as KnownModes]) : 'not-known'
}

/** For an agent that was not started and is unknown: returns the worst meaning that a known agent gives this id. */
export function judgeModeOfAny(id: string): ModeJudgement {
  return judge(id, Object.values(KNOWN))
}

function judge(id: string, known: readonly KnownModes[]): ModeJudgement {
  if (known.some(({ unasked }) => unasked.includes(id))) return 'unasked'
  return known.some(({ asks }) => asks.includes(id)) ? 'asks' : 'not-known'
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.replace(/[\s\p{Cc}]+/gu, ' ').slice(0, 500) : ''
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
