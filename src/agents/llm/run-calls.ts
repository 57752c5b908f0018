// Runs the calls of one answer in order: judge, ask, note as begun, run, note as done. After a crash a finished call is
// not run again. A begun call is reported as unknown, unless it can safely be repeated.
import type { ConnectorDeps, Delivery, Verdict } from '../../contract/index.ts'
import { inputText, toolText } from '../../kit/index.ts'
import type { LlmConfig } from './config.ts'
import { type OpenJournal, unknownAnswer } from './journal.ts'
import { parsedArguments, type ToolAnswer, type ToolSpec, type ToolUse } from './models/model.ts'
import type { BoxedTool, Toolbox } from './toolbox.ts'

export interface CallScene {
  readonly delivery: Delivery
  readonly config: LlmConfig
  readonly journal: OpenJournal
  readonly toolbox: Toolbox
  readonly deps: Pick<ConnectorDeps, 'clock' | 'log' | 'crashPoint'>
  readonly signal: AbortSignal
  /** Asks a person. The turn's time stands still meanwhile. */
  ask(tool: string, input: string): Promise<Verdict>
  /** Shows the call to watchers. It may be lost. */
  tell(kind: 'tool_call' | 'tool_result', call: ToolUse, text: string): Promise<void>
}

/** The connector is stopping. A running tool may finish, so that its result is stored. */
export class Draining extends Error {}

const RESULT_CHARS = 65_536
const SHOWN_CHARS = 4_000
const ASKED_CHARS = 100_000
const MOST_REQUIRED = 50

export async function runCalls(calls: readonly ToolUse[], scene: CallScene): Promise<void> {
  for (const [at, call] of calls.entries()) {
    if (scene.journal.result(call.id) !== null) continue
    scene.signal.throwIfAborted()
    const answer = await answerTo(call, at, scene)
    scene.deps.crashPoint?.('llm.tool-done')
    await scene.journal.add({ kind: 'result', body: answer })
    scene.deps.crashPoint?.('llm.result-kept')
    await scene.tell('tool_result', call, answer.text)
  }
}

async function answerTo(call: ToolUse, at: number, scene: CallScene): Promise<ToolAnswer> {
  const { id, name } = call
  const failed = (text: string): ToolAnswer => ({ id, name, text, isError: true })
  const most = scene.config.limits.calls
  if (at >= most)
    return failed(`Not run: at most ${most} calls of one answer are. Make the others in later steps.`)
  const tool = scene.toolbox.find(name)
  if (!tool) {
    // A call of a tool that was removed since is unknown like any other.
    if (scene.journal.isStarted(id)) return unknownAnswer(call)
    return failed(`There is no tool "${name.slice(0, 100)}". Use one of those that are listed.`)
  }
  const input = parsedArguments(call.arguments)
  if (input === null)
    return failed(
      'The arguments are not a JSON object, or nested too deep: nothing was run. Call it again with one.',
    )
  const missing = missingOf(tool.schema, input)
  // A call that cannot run is not asked about.
  if (missing.length > 0 && !scene.journal.isStarted(id))
    return failed(`Nothing was run: ${missing.join(', ')} is missing. Call it again with all that it needs.`)
  const isStarted = scene.journal.isStarted(id)
  if (isStarted && !tool.readOnly && !tool.keyed) return unknownAnswer(call)
  const refused = await tool.refusal(input)
  if (refused !== null) return failed(refused)
  // A yes allows one beginning. A call that was begun is asked about again.
  const denied = tool.risky ? await denialOf(tool, input, scene) : null
  if (denied !== null) return failed(denied)
  scene.deps.crashPoint?.('llm.before-start')
  if (!isStarted) await scene.journal.add({ kind: 'call', body: { id, name } })
  scene.deps.crashPoint?.('llm.started')
  await scene.tell('tool_call', call, toolText(input, SHOWN_CHARS))
  return run(tool, input, call, scene)
}

/** Returns the required arguments that are missing. The schema may come from a third party. */
function missingOf(schema: ToolSpec['schema'], input: Record<string, unknown>): readonly string[] {
  const { required } = schema as { readonly required?: unknown }
  if (!Array.isArray(required)) return []
  return required
    .slice(0, MOST_REQUIRED)
    .filter((name): name is string => typeof name === 'string' && !Object.hasOwn(input, name))
    .map((name) => name.slice(0, 100))
}

/** Returns why the call must not run; null: a person allowed it. */
async function denialOf(
  tool: BoxedTool,
  input: Record<string, unknown>,
  scene: CallScene,
): Promise<string | null> {
  const shown = inputText(input, ASKED_CHARS)
  // An approver can only allow what is shown whole.
  if (shown === null)
    return `Not run: its arguments are over ${ASKED_CHARS} characters or nested too deep to be shown to a person.`
  const verdict = await scene.ask(tool.name, shown)
  if (verdict.behavior === 'allow') return null
  if (verdict.cause === 'expired') return 'Not run: nobody answered the request for approval in time.'
  if (verdict.cause === 'unreachable') return 'Not run: it needs an approval, and no approver can be reached.'
  return `Not run: ${verdict.decidedBy} denied it. Do not try it in another way; tell the person.`
}

async function run(
  tool: BoxedTool,
  input: Record<string, unknown>,
  call: ToolUse,
  { delivery, config, deps, signal }: CallScene,
): Promise<ToolAnswer> {
  const { id, name } = call
  const limitMs = config.limits.tool_seconds * 1_000
  const ended = new AbortController()
  let cancel = () => {}
  let forget = () => {}
  const late = new Promise<ToolAnswer>((resolve) => {
    cancel = deps.clock.after(limitMs, () => {
      ended.abort(new Error('late'))
      const text = `No answer within ${config.limits.tool_seconds} s: outcome unknown. It may have worked; check before you call it again.`
      resolve({ id, name, text, isError: true })
    })
  })
  const stopped = new Promise<never>((_, reject) => {
    const aborted = () => {
      if (signal.reason instanceof Draining) return
      ended.abort(signal.reason)
      reject(signal.reason)
    }
    forget = () => signal.removeEventListener('abort', aborted)
    signal.addEventListener('abort', aborted, { once: true })
    if (signal.aborted) aborted()
  })
  const running = Promise.resolve()
    .then(() => tool.run(input, { key: `llm:${delivery.turn}:${id}`, signal: ended.signal }))
    .then(
      ({ text, isError }): ToolAnswer => ({ id, name, text: cut(text), isError }),
      (thrown: unknown): ToolAnswer => {
        deps.log.warn({ tool: name, problem: String(thrown) }, 'a tool failed')
        const why = thrown instanceof Error ? thrown.message.slice(0, 500) : 'it failed'
        return { id, name, text: `It failed: ${why}`, isError: true }
      },
    )
  try {
    return await Promise.race([running, late, stopped])
  } finally {
    cancel()
    forget()
  }
}

function cut(text: string): string {
  if (text.length <= RESULT_CHARS) return text === '' ? '(empty result)' : text
  const end = text.charCodeAt(RESULT_CHARS - 1) >> 10 === 0x36 ? RESULT_CHARS - 1 : RESULT_CHARS
  return `${text.slice(0, end)}\n(cut: ${text.length} characters in all, of which ${end} are shown)`
}
