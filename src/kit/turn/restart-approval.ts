// The question whether interrupted work is begun again, when its state cannot be known. The question stays the same
// until it is answered, however often the daemon restarts. One yes allows one beginning.
import type { AgentOutlet, Delivery, TurnStep, Verdict } from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
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
  const words = wordsIn().work
  const { tool: toolName, description, toolsBegun, times } = words.again
  const lines = [
    delivery.text,
    ...(tools.length === 0 ? [] : [toolsBegun({ tools: tools.join('; ') })]),
    // This makes it a different question from the previous one, which is answered.
    ...(standing.times === 0 ? [] : [times({ count: standing.times })]),
  ]
  const ask = { toolName, description, input: lines.join('\n') }
  const verdict = await verdicts.on(async () => {
    const { id } = await outlet.accept({ kind: 'ask', session, turn, ask })
    deps.onAsked()
    void outlet
      .accept({ kind: 'status', session, turn, text: words.waitingForApproval({ tool: toolName }) })
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
  const { notAnswered, notAsked, denied } = wordsIn().work.again
  if (cause === 'expired') return notAnswered
  return cause === 'unreachable' ? notAsked : denied
}
