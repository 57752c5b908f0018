// The loop: ask the model, run its calls, and repeat until it ends with a text. Each step is in the journal before the
// next one begins. So a first run and a run after a crash are the same: it reads what is done and does the rest. A loop
// that finds another node's steps in the journal stops without a report.
import {
  type AgentOutlet,
  type ConnectorDeps,
  cutAnswer,
  type Delivery,
  MOST_ANSWER_CHARS,
  SwitchboardError,
  type TokenUsage,
  type TurnJournal,
  type Verdict,
} from '../../contract/index.ts'
import { createWorkTime, filesOf, turnText, type WorkTime } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import { callModel } from './call-model.ts'
import type { LlmConfig } from './config.ts'
import { type History, historyMessages, readHistory, SUMMARY_SYSTEM, summaryRequest } from './history.ts'
import { type ModelStep, type OpenJournal, openJournal } from './journal.ts'
import { dayOf, overDay, overTurn } from './limits.ts'
import type { McpServers } from './mcp-servers.ts'
import type { Message, Model, ModelRequest } from './models/model.ts'
import { systemPrompt } from './prompt.ts'
import { runCalls } from './run-calls.ts'
import { openToolbox } from './toolbox.ts'

export interface RunDeps extends ConnectorDeps {
  readonly journal: TurnJournal
  readonly config: LlmConfig
  readonly model: Model
  readonly servers: McpServers
  readonly outlet: AgentOutlet
  /** Waits for the verdict on an approval. */
  readonly verdictOn: (ask: () => Promise<string | null>, signal: AbortSignal) => Promise<Verdict>
}

/** Ends the turn with these words for the person. */
export class TurnOver extends Error {
  readonly text: string
  constructor(message: string, text = '') {
    super(message)
    this.text = text
  }
}

const PARTIAL_EVERY_MS = 300
const SUMMARY_TOKENS = 1_024
/** The input of one summary. A longer text is cut at its beginning. */
const SUMMARY_CHARS = 120_000

/** Resolves when the turn is answered. Throws LOST, an abort, TurnOver, or the model's error. */
export async function runTurn(delivery: Delivery, deps: RunDeps, abort: AbortController): Promise<void> {
  const { config, outlet } = deps
  const { session, turn } = delivery
  const time = createWorkTime(deps.clock, config.limits.minutes * 60_000, () =>
    abort.abort(new TurnOver(`it took longer than ${config.limits.minutes} min (limits.minutes)`)),
  )
  try {
    const journal = await openJournal(deps.journal, turn)
    const loop = createLoop(delivery, {
      ...deps,
      journals: deps.journal,
      journal,
      time,
      signal: abort.signal,
    })
    const answer = await loop()
    deps.crashPoint?.('llm.before-answer')
    // After a crash the same key means the same answer.
    await outlet.accept({
      kind: 'say',
      session,
      turn,
      text: answer,
      final: true,
      idempotencyKey: `llm:${turn}`,
    })
  } finally {
    time.stop()
  }
}

type LoopDeps = Omit<RunDeps, 'journal'> & {
  /** The journal of this turn. */
  readonly journal: OpenJournal
  /** The journal of all the agent's turns. */
  readonly journals: TurnJournal
  readonly time: WorkTime
  readonly signal: AbortSignal
}

function createLoop(delivery: Delivery, deps: LoopDeps): () => Promise<string> {
  const { config, journal, outlet, time, signal, clock } = deps
  const { session, turn } = delivery
  let seen = false
  const sawIt = () => {
    if (seen) return
    seen = true
    void outlet.accept({ kind: 'evidence', turn, of: 'seen' }).catch(() => undefined)
  }
  let shownAt = Number.NEGATIVE_INFINITY
  const show = (text: string) => {
    if (clock.now() - shownAt < PARTIAL_EVERY_MS) return
    shownAt = clock.now()
    void outlet.accept({ kind: 'partial', session, turn, text }).catch(() => undefined)
  }
  const words = wordsIn().work
  const status = (text: string) =>
    void outlet.accept({ kind: 'status', session, turn, text }).catch(() => undefined)

  const ask = async (request: Omit<ModelRequest, 'model' | 'signal'>) => {
    const answered = await callModel(
      { ...request, model: config.model, signal },
      {
        ...{
          model: deps.model,
          clock,
          log: deps.log,
          fallback: config.fallback ?? null,
          leftMs: time.leftMs,
        },
        onWait: (ms, why) => status(words.waiting({ seconds: Math.ceil(ms / 1_000), why })),
      },
    )
    outlet.reached(null)
    return answered
  }

  const spend = (usage: TokenUsage, model: string) => ({
    usage: { ...usage, ...costOf(usage, config), agent: delivery.agent, model },
  })

  const withinDay = async () => {
    const spent = await deps.journals.spent(delivery.agent, dayOf(clock.now()))
    const over = overDay(spent, config, clock.now())
    if (over === null) return
    outlet.reached(over)
    throw new TurnOver(over, textSoFar(journal))
  }

  /** Summarises older turns once. Without a summary the turn continues all the same. */
  const summarise = async (history: History): Promise<string | null> => {
    const last = history.fallen.at(-1)
    if (!last) return history.summary
    try {
      await withinDay()
      const { reply, model } = await ask({
        system: SUMMARY_SYSTEM,
        messages: [{ role: 'user', text: summaryRequest(history, SUMMARY_CHARS) }],
        ...{ tools: [], maxTokens: SUMMARY_TOKENS },
      })
      if (reply.text.trim() === '') return history.summary
      const body = { through: last.turn, text: reply.text.trim() }
      await journal.add({ kind: 'summary', body, ...spend(reply.usage, model) })
      return body.text
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof SwitchboardError)) throw thrown
      deps.log.warn({ turn, problem: thrown.message }, 'what was said before could not be summarised')
      return history.summary
    }
  }

  const before = async (budget: number): Promise<readonly Message[]> => {
    const history = await readHistory(deps.journals, { session, turn, budget, summary: journal.summary() })
    const summary = await summarise(history)
    return historyMessages({ ...history, summary }, history.fallen.length > 0)
  }

  return async () => {
    const toolbox = await openToolbox(delivery, config, deps)
    const done = () => journal.modelSteps().at(-1)
    if (journal.steps.length > 0) sawIt()
    let budget = config.limits.history_tokens
    let past: readonly Message[] | null = null
    let own: Message | null = null
    for (;;) {
      signal.throwIfAborted()
      const last = done()
      if (last) {
        await runCalls(last.calls, {
          ...{ delivery, config, journal, toolbox, deps, signal },
          ask: (tool, input) => {
            status(words.waitingForApproval({ tool }))
            return time.outside(() => deps.verdictOn(() => asked(tool, input), signal))
          },
          async tell(kind, call, text) {
            if (kind === 'tool_call') status(words.using({ tool: call.name }))
            const event = {
              turn,
              kind,
              call: call.id,
              name: call.name,
              text: text.slice(0, 4_000),
              key: `${kind}:${call.id}`,
            }
            await outlet.accept({ kind: 'event', event }).catch(() => undefined)
          },
        })
        if (last.stop === 'refusal') throw new TurnOver('the model declined to answer')
        if (last.calls.length === 0 && last.stop !== 'pause') return answerOf(last)
      }
      const over = overTurn(journal, config)
      if (over !== null) throw new TurnOver(over, textSoFar(journal))
      await withinDay()
      past ??= await before(budget)
      if (own === null) {
        const { files, words: fileWords } = await filesOf(
          delivery,
          { images: config.images, pdf: config.images && config.provider === 'anthropic' },
          deps,
        )
        own = { role: 'user', text: turnText(delivery, fileWords), ...(files.length === 0 ? {} : { files }) }
      }
      deps.crashPoint?.('llm.before-model')
      const { reply, model } = await ask({
        system: systemPrompt(config.systemText, delivery),
        messages: [...past, own, ...journal.messages()],
        tools: toolbox.tools,
        maxTokens: config.limits.output_tokens,
        onFirst: sawIt,
        onText: show,
      })
      if (reply.stop === 'overflow') {
        // The history is shortened once or twice. After that the turn itself is too long.
        if (budget === 0)
          throw new TurnOver('the conversation is longer than the model takes', textSoFar(journal))
        budget = budget > 4_000 && past.length > 0 ? Math.floor(budget / 4) : 0
        past = budget === 0 ? [] : null
        continue
      }
      deps.crashPoint?.('llm.model-done')
      const { text, calls, stop, raw, usage } = reply
      const step: ModelStep = { text, calls, stop, model, raw, tokens: usage.input + usage.output }
      await journal.add({ kind: 'model', body: step, ...spend(reply.usage, model) })
      deps.crashPoint?.('llm.model-kept')
    }
  }

  async function asked(toolName: string, input: string): Promise<string | null> {
    sawIt()
    const description = words.forMessageOf({ name: delivery.sender.name ?? delivery.sender.id })
    const { id } = await outlet.accept({ kind: 'ask', session, turn, ask: { toolName, description, input } })
    return id
  }
}

function answerOf({ text, stop }: ModelStep): string {
  if (stop === 'long') {
    if (text.trim() === '')
      throw new TurnOver('the model’s answer was longer than is taken, and held no text')
    if (text.length <= MOST_ANSWER_CHARS)
      throw new TurnOver('the model’s answer was longer than is taken', text)
    return cutAnswer(text)
  }
  if (stop !== 'length') return text
  if (text.trim() === '') throw new TurnOver('the model used up its output tokens before it said anything')
  return `${text.trimEnd()} …\n\n${wordsIn().work.outputCut}`
}

function textSoFar(journal: OpenJournal): string {
  return journal.modelSteps().at(-1)?.text ?? ''
}

function costOf(usage: TokenUsage, { prices }: LlmConfig): { costMicros?: number } {
  if (!prices) return {}
  const plain = usage.input - usage.cacheRead - usage.cacheWrite
  // Prices are per million tokens, and costs are counted in millionths.
  const cost =
    plain * prices.input +
    usage.output * prices.output +
    usage.cacheRead * (prices.cache_read ?? prices.input) +
    usage.cacheWrite * (prices.cache_write ?? prices.input)
  return { costMicros: Math.round(cost) }
}
