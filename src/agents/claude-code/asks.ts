// What Claude Code asks during a turn. A permission becomes an approval. A question of the model becomes a message, and
// the person's next message answers it. The end of the turn or of the process ends the wait.
import {
  type AgentOutlet,
  asSwitchboardError,
  type Clock,
  createSerial,
  type Delivery,
  defined,
  type Logger,
} from '../../contract/index.ts'
import type { createVerdictWait } from '../../kit/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type OpenTurn, uuidOf } from './open-turns.ts'
import { denial, permissionOf, verdictAnswer } from './permissions.ts'
import { answerOf, questionsOf, questionText } from './questions.ts'
import { answerLine, type Fields, isFields, refusalLine, textOf } from './wire.ts'

export interface Asks {
  /** Takes a control request of the program. */
  take(id: string, request: Fields): void
  /** The program cancelled its request. */
  withdrawn(id: string): void
  /** Returns whether this message answered a waiting question. */
  answers(delivery: Delivery): boolean
  /** Whether anything waits for a person. */
  isWaiting(): boolean
  /** Drops all requests, because no program waits for their answers. */
  stop(): void
}

export interface AsksDeps {
  readonly session: string
  readonly clock: Clock
  readonly log: Logger
  readonly outlet: () => AgentOutlet
  readonly verdicts: ReturnType<typeof createVerdictWait>
  readonly alwaysAllow: readonly string[]
  readonly write: (line: string) => Promise<void>
  readonly current: () => OpenTurn | undefined
  /** The turn was stopped, and the program has not ended it yet. */
  readonly isStopped: () => boolean
  /** The turn's time limit stands still during this work. */
  readonly outside: <T>(work: () => Promise<T>) => Promise<T>
}

/** After this time the model learns that no answer came. */
const QUESTION_MS = 60 * 60_000

/** The most questions that wait for people at once. */
const MOST_AT_ONCE = 20
const TOO_MANY = `Not run: ${MOST_AT_ONCE} questions wait for a person already. Ask again when they are answered.`

class Over extends Error {}

interface Listening {
  readonly sender: string
  /** The id by which the buttons name the question. */
  readonly of: string
  readonly hear: (text: string) => void
}

export function createAsks(deps: AsksDeps): Asks {
  const { session } = deps
  const open = new Map<string, AbortController>()
  let listening: Listening | null = null

  const permission = async (request: Fields, signal: AbortSignal): Promise<Fields> => {
    const wanted = permissionOf(request, deps.alwaysAllow)
    const { toolName, description, shown } = wanted
    // An approver can only allow what is shown whole.
    if (shown === null) return denial('Not run: its input is too long or too deep to be shown to a person.')
    const turn = deps.current()?.delivery.turn
    const about = defined({ turn })
    const status = {
      kind: 'status',
      session,
      ...about,
      text: wordsIn().work.waitingForApproval({ tool: toolName }),
    } as const
    void deps
      .outlet()
      .accept(status)
      .catch(() => undefined)
    const ask = async () => {
      const asked = { toolName, description, input: shown }
      return (await deps.outlet().accept({ kind: 'ask', session, ...about, ask: asked })).id
    }
    return verdictAnswer(wanted, await deps.outside(() => deps.verdicts.on(ask, signal)))
  }

  /** Returns the next message of the turn's sender; null: none came in time. */
  const nextFrom = (sender: string, of: string, signal: AbortSignal) =>
    new Promise<string | null>((resolve, reject) => {
      const done = () => {
        cancel()
        listening = null
        signal.removeEventListener('abort', over)
      }
      const over = () => {
        done()
        reject(signal.reason)
      }
      const cancel = deps.clock.after(QUESTION_MS, () => {
        done()
        resolve(null)
      })
      listening = {
        ...{ sender, of },
        hear(text) {
          done()
          resolve(text)
        },
      }
      signal.addEventListener('abort', over, { once: true })
      if (signal.aborted) over()
    })

  const question = async (id: string, request: Fields, signal: AbortSignal): Promise<Fields> => {
    const input = isFields(request.input) ? request.input : {}
    const turn = deps.current()
    const answers: Record<string, string> = {}
    if (!turn) return denial('There is nobody who could be asked.')
    for (const [at, one] of questionsOf(input).entries()) {
      const key = `claude-code:question:${id}:${at}`
      const of = uuidOf(key).slice(0, 13)
      const say = { kind: 'say', session, turn: turn.delivery.turn, text: questionText(one) } as const
      // Several choices are typed as numbers, because one tap picks one choice.
      const pick = one.several ? {} : { pick: { of, labels: one.options.map(({ label }) => label) } }
      await deps.outlet().accept({ ...say, ...pick, idempotencyKey: key })
      const text = await deps.outside(() => nextFrom(turn.delivery.sender.id, of, signal))
      if (text === null) break
      answers[one.question] = answerOf(text, one)
    }
    return { behavior: 'allow', updatedInput: { ...input, answers } }
  }

  // One question at a time, because one message answers one question.
  const inTurn = createSerial()

  const decide = async (id: string, request: Fields, signal: AbortSignal): Promise<Fields> => {
    try {
      if (textOf(request.tool_name) === 'AskUserQuestion')
        return await inTurn(() => question(id, request, signal))
      return await permission(request, signal)
    } catch (thrown) {
      if (thrown instanceof Over) throw thrown
      const { message } = asSwitchboardError(thrown, 'agent_failed')
      deps.log.warn({ session, problem: message }, 'a permission could not be asked for')
      return denial(`Not run: nobody could be asked (${message}).`)
    }
  }

  return {
    take(id, request) {
      if (request.subtype !== 'can_use_tool') {
        void deps.write(refusalLine(id, 'this host does not answer that')).catch(() => undefined)
        return
      }
      if (deps.isStopped()) {
        void deps.write(answerLine(id, denial('Not run: the person stopped it.'))).catch(() => undefined)
        return
      }
      if (open.size >= MOST_AT_ONCE) {
        void deps.write(answerLine(id, denial(TOO_MANY))).catch(() => undefined)
        return
      }
      const abort = new AbortController()
      open.set(id, abort)
      decide(id, request, abort.signal)
        .then((answer) => (abort.signal.aborted ? undefined : deps.write(answerLine(id, answer))))
        .catch(() => undefined)
        .finally(() => open.delete(id))
    },
    withdrawn: (id) => open.get(id)?.abort(new Over()),
    answers({ sender, text, meta, repeat, continuation }) {
      if (listening === null || listening.sender !== sender.id || repeat || continuation) return false
      if (meta.picked !== undefined && meta.picked !== listening.of) return false
      listening.hear(text)
      return true
    },
    isWaiting: () => open.size > 0,
    stop() {
      for (const abort of open.values()) abort.abort(new Over())
      open.clear()
    },
  }
}
