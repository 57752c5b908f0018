// The question whether interrupted work is begun again, when its state cannot be known. The question stays the same
// until it is answered, however often the daemon restarts. One yes allows one beginning.
import type { AgentOutlet, Delivery, TurnStep, Verdict } from '../../contract/index.ts'
import type { createVerdictWait } from './verdict-wait.ts'

/** What the turn's journal says of such questions. */
export interface AnewStanding {
  /** How often it was begun again. */
  readonly times: number
  /** It was asked and not begun since, so the answer still counts. */
  readonly isOpen: boolean
}

/** The body of a step. */
export interface AnewStep {
  readonly anew: 'asked' | 'begun'
}

export type AnewAnswer = { readonly begin: true } | { readonly begin: false; readonly words: string }

export interface AnewAsk {
  readonly standing: AnewStanding
  /** Tools that were begun for it. */
  readonly tools: readonly string[]
  readonly outlet: AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  readonly signal: AbortSignal
  /** Stores that the question was asked, before it is sent. */
  readonly keep: () => Promise<unknown>
  /** Called when the turn waits for a person. */
  readonly onAsked: () => void
}

const TOOL_NAME = 'begin the message anew'
const DESCRIPTION =
  'its work was interrupted, and the agent no longer remembers it: it may have been done, or not'

export function anewStanding(steps: readonly TurnStep[]): AnewStanding {
  const said = steps.map(({ body }) => (body as Partial<AnewStep> | null)?.anew)
  return {
    times: said.filter((one) => one === 'begun').length,
    isOpen: said.lastIndexOf('asked') > said.lastIndexOf('begun'),
  }
}

/** Rejects with the signal's reason, or when the question could not be asked. */
export async function askWhetherAnew(delivery: Delivery, deps: AnewAsk): Promise<AnewAnswer> {
  const { standing, tools, outlet, verdicts } = deps
  const { session, turn } = delivery
  if (!standing.isOpen) await deps.keep()
  const lines = [
    delivery.text,
    ...(tools.length === 0 ? [] : [`Tools that were begun: ${tools.join('; ')}`]),
    // This makes it a different question from the previous one, which is answered.
    ...(standing.times === 0 ? [] : [`Begun anew before, and interrupted again: ${standing.times} times`]),
  ]
  const ask = { toolName: TOOL_NAME, description: DESCRIPTION, input: lines.join('\n') }
  const verdict = await verdicts.on(async () => {
    const { id } = await outlet.accept({ kind: 'ask', session, turn, ask })
    deps.onAsked()
    void outlet
      .accept({ kind: 'status', session, turn, text: `Waiting for an approval: ${TOOL_NAME}` })
      .catch(() => undefined)
    return id
  }, deps.signal)
  return verdict.behavior === 'allow' ? { begin: true } : { begin: false, words: refusalWords(verdict) }
}

/** Stands before a message that the agent may already have. */
export function maybeAgainWords(tools: readonly string[]): string {
  const begun = tools.length === 0 ? '' : ` Tools that were begun for it then: ${tools.join('; ')}.`
  return `[From Switchboard] The message below may have reached you before an interruption. If so, go on where you stopped, and do not run again what was run.${begun}`
}

function refusalWords({ cause }: Verdict): string {
  const why =
    cause === 'expired'
      ? 'nobody said in time whether to begin it anew'
      : cause === 'unreachable'
        ? 'nobody could be asked whether to begin it anew'
        : 'it was not wanted anew'
  return `its work was interrupted, what became of it cannot be told, and ${why}; send it again if it should be done`
}
