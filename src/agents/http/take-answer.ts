// Turns a response into the turn's outcome: the whole answer, a marked part of it, or silence.
import {
  type AgentOutlet,
  type AgentOutput,
  asSwitchboardError,
  type Clock,
  type Delivery,
  defined,
  type Logger,
  type NewFile,
  TURN_EVENT_CHARS,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { type Answer, type AnswerProgress, readAnswer } from './read-answer.ts'

export interface TakeAnswer {
  /** The agent accepted the turn and answers later. Never throws, because nothing is posted again afterwards. */
  promised(delivery: Delivery): Promise<void>
  /** Returns false if we ended the request before it was complete. Then nothing was reported. */
  from(
    delivery: Delivery,
    response: Response,
    /** Why we ended the request; null: we did not. */
    how: { readonly timeoutMs: number; readonly ended: () => 'late' | 'aborted' | null },
  ): Promise<boolean>
  silent(delivery: Delivery, timeoutMs: number): Promise<void>
}

/** An open connection is a sign of life. */
const ALIVE_EVERY_MS = 60_000

export function createTakeAnswer(deps: {
  readonly clock: Clock
  readonly log: Logger
  readonly outlet: () => AgentOutlet
}): TakeAnswer {
  const { clock, log } = deps
  // Never rejects, also when the agent is stopped and has no outlet, because no caller waits for it.
  const tell = async (output: AgentOutput): Promise<void> => {
    try {
      await deps.outlet().accept(output)
    } catch (thrown) {
      log.warn({ error: String(thrown) }, 'a sign of life was not taken')
    }
  }

  const keepAlive = ({ session, turn }: Delivery) => {
    let cancel = () => {}
    const again = () => {
      cancel = clock.after(ALIVE_EVERY_MS, () => {
        void tell({ kind: 'status', session, turn, text: '' })
        again()
      })
    }
    again()
    return () => cancel()
  }

  const say = async (
    { session, turn }: Delivery,
    texts: readonly string[],
    files: readonly NewFile[],
  ): Promise<void> => {
    const [text = '', before] = [texts.at(-1), texts.slice(0, -1)]
    const idempotencyKey = `http:${turn}:answer`
    const words = {
      kind: 'say',
      session,
      turn,
      text,
      before,
      idempotencyKey,
      final: true,
      sole: true,
    } as const
    try {
      await deps.outlet().accept({ ...words, ...(files.length > 0 ? { files } : {}) })
    } catch (thrown) {
      const error = asSwitchboardError(thrown)
      if (error.code === 'conflict') return unsaid(turn, texts)
      if (files.length === 0 || error.code !== 'execution_failed') throw thrown
      // The text must not be lost with files that cannot be sent.
      const names = files.map(({ name }) => name).join(', ')
      const note = wordsIn().work.filesNotSent({ names, why: error.message })
      await deps.outlet().accept({ ...words, text: text === '' ? note : `${text}\n\n${note}` })
    }
  }

  /** The turn was answered before, at `reply_url` or by a tool. The text is kept with the turn and not sent. */
  const unsaid = async (turn: string, texts: readonly string[]) => {
    log.warn({ turn }, 'the response came after the turn was answered or ended: it is not sent')
    const text = texts.join('\n').slice(0, TURN_EVENT_CHARS)
    const key = `http:${turn}:unsaid`
    const event = { turn, kind: 'tool_result', call: null, name: 'unsent response', text, key } as const
    await tell({ kind: 'event', event })
  }

  const settle = async (delivery: Delivery, answer: Answer | Silence) => {
    if (answer.kind === 'answer') return say(delivery, answer.texts, answer.files)
    const { detail, text } = answer
    const { code } = { code: undefined, ...answer }
    const reason = REASON_OF[answer.kind]
    await deps.outlet().accept({
      ...{ kind: 'failed', turn: delivery.turn, reason, detail },
      ...(text === '' ? {} : { text }),
      ...defined({ code }),
    })
  }

  const ending = (delivery: Delivery, answer: Answer | Silence) =>
    settle(delivery, answer).catch((thrown: unknown) =>
      log.error({ turn: delivery.turn, error: String(thrown) }, 'an answer was not taken'),
    )

  return {
    promised: ({ turn }) => tell({ kind: 'evidence', turn, of: 'seen', working: true }),
    async from(delivery, response, { timeoutMs, ended }) {
      const alive = keepAlive(delivery)
      const shown = createShown(delivery, tell)
      const { headers, body } = response
      try {
        const answer = await readAnswer(
          {
            contentType: headers.get('content-type'),
            contentEncoding: headers.get('content-encoding'),
            chunks: body ?? NO_CHUNKS,
          },
          shown,
        )
        // An unread body must not keep its connection.
        await body?.cancel().catch(() => undefined)
        await shown.last()
        if (answer.kind === 'cut' && ended() === 'aborted') return false
        const text = answer.kind === 'answer' ? '' : answer.text
        const late = answer.kind === 'cut' && ended() === 'late'
        const silence = { kind: 'silent', detail: noAnswerWithin(timeoutMs), text } as const
        await ending(delivery, late ? silence : answer)
        deps.outlet().reached(late ? silence.detail : failingOf(answer))
        return true
      } finally {
        alive()
      }
    },
    async silent(delivery, timeoutMs) {
      const detail = noAnswerWithin(timeoutMs)
      await ending(delivery, { kind: 'silent', detail, text: '' })
      deps.outlet().reached(detail)
    },
  }
}

/** Nothing more came in time; `text`: what had come. */
interface Silence {
  readonly kind: 'silent'
  readonly detail: string
  readonly text: string
}

const REASON_OF = { failed: 'agent_failed', cut: 'answer_cut', silent: 'agent_silent' } as const

/** Returns why the agent's answers cannot be used; null: they can, even if this one reports an error. */
function failingOf(answer: Answer): string | null {
  if (answer.kind === 'answer') return null
  if (answer.kind === 'cut') return answer.detail
  return answer.unread === undefined ? null : `${answer.detail} (${answer.unread})`
}

const NO_CHUNKS: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }

function noAnswerWithin(timeoutMs: number): string {
  return `no answer within ${timeoutMs / 1_000} s`
}

/** Shows one text at a time, always the newest. Texts that come faster than they are shown are skipped. */
function createShown(
  { session, turn }: Delivery,
  tell: (output: AgentOutput) => Promise<void>,
): AnswerProgress & { last(): Promise<void> } {
  let next: string | null = null
  let showing: Promise<void> | null = null
  const show = async () => {
    while (next !== null) {
      const text = next
      next = null
      await tell({ kind: 'partial', session, turn, text })
    }
    showing = null
  }
  return {
    partial(text) {
      next = text
      showing ??= show()
    },
    status: (text) => void tell({ kind: 'status', session, turn, text }),
    async last() {
      next = null
      await showing
    },
  }
}
