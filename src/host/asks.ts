// Questions that wait for an answer of a channel server or of the host's own prompt. The first answer wins. Only those
// who were asked may answer, until the time limit.
import { type ChannelPrefix, type Clock, type Random, SwitchboardError } from '../contract/index.ts'
import { freshApprovalId } from '../core/approvals/approval-id.ts'
import { inputText } from '../kit/index.ts'
import { permissionRequest } from '../platforms/mcp/render.ts'
import type { AskOrder, AskOutcome, OpenAsk } from './types.ts'

export interface AskedServer {
  readonly server: string
  readonly prefix: ChannelPrefix
  /** Resolves when the question was written to it. */
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
}

export interface Question {
  readonly agent: string
  readonly toolName: string
  readonly description: string
  readonly input: string
  readonly local: boolean
  readonly timeoutMs: number
}

export interface Asks {
  open(question: Question, servers: readonly AskedServer[]): OpenAsk
  /** Returns false if this server was not asked, or the question is over. */
  verdict(server: string, id: string, behavior: 'allow' | 'deny'): boolean
  /** Returns the agent of an open question. */
  agentOf(id: string): string | null
  stop(): void
}

const ASKED_CHARS = 100_000

/** Throws `input_invalid` for a question that cannot be shown. The caller may have no types. */
export function readQuestion({
  toolName,
  description,
  input,
}: Pick<AskOrder, 'toolName' | 'description' | 'input'>) {
  for (const [name, text] of Object.entries({ toolName, description }))
    if (typeof text !== 'string') throw new SwitchboardError('input_invalid', `${name} must be a text`)
  const shown = typeof input === 'string' ? input : inputText(input ?? {}, ASKED_CHARS)
  if (shown === null)
    throw new SwitchboardError(
      'input_invalid',
      `input is over ${ASKED_CHARS} characters or nested too deep to be shown to a person`,
      { hint: 'give it as a text, or ask about a smaller call' },
    )
  return { toolName, description, input: shown }
}

interface Pending {
  readonly agent: string
  readonly asked: Set<string>
  settle(outcome: AskOutcome): boolean
}

export function createAsks(deps: { readonly clock: Clock; readonly random: Random }): Asks {
  const pending = new Map<string, Pending>()

  return {
    open(question, servers) {
      let id = freshApprovalId(deps.random)
      while (pending.has(id)) id = freshApprovalId(deps.random)
      let resolve: (outcome: AskOutcome) => void = () => undefined
      const outcome = new Promise<AskOutcome>((settle) => {
        resolve = settle
      })
      const settle = (end: AskOutcome): boolean => {
        if (!pending.delete(id)) return false
        cancel()
        resolve(end)
        return true
      }
      const asked = new Set<string>()
      // Registered before it is sent, because an answer may come at once.
      pending.set(id, { agent: question.agent, asked, settle })
      const cancel = deps.clock.after(question.timeoutMs, () =>
        settle({ behavior: 'deny', by: null, reason: 'expired' }),
      )
      for (const { server } of servers) asked.add(server)
      const { toolName, description, input } = question
      const ask = { toolName, description, input }
      const prompt = { kind: 'prompt', approval: id, text: input, choices: [], ask } as const
      const sent = servers.map(async ({ server, prefix, notify }) => {
        const { method, params } = permissionRequest(prefix, prompt)
        try {
          await notify(method, params)
          return true
        } catch {
          asked.delete(server)
          return false
        }
      })
      Promise.all(sent).then((reached) => {
        if (!reached.includes(true) && !question.local)
          settle({ behavior: 'deny', by: null, reason: 'nobody' })
      })
      return {
        id,
        outcome,
        decide: (behavior) => settle({ behavior, by: 'local', reason: 'decided' }),
        withdraw: () => void settle({ behavior: 'deny', by: null, reason: 'withdrawn' }),
      }
    },
    verdict(server, id, behavior) {
      const one = pending.get(id)
      return (
        one?.asked.has(server) === true && one.settle({ behavior, by: `server:${server}`, reason: 'decided' })
      )
    },
    agentOf: (id) => pending.get(id)?.agent ?? null,
    stop() {
      for (const one of [...pending.values()]) one.settle({ behavior: 'deny', by: null, reason: 'withdrawn' })
    },
  }
}
