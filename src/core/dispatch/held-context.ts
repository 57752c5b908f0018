// Messages from the time when a person held a conversation, for the agent's next turn there. They are marked lines
// beside the turn, never turns of their own. They come from people whom the gate admits now, and from the holder.
import {
  type ContextLine,
  createSerial,
  type HeldWord,
  type Logger,
  opText,
  type Store,
  type TurnRow,
} from '../../contract/index.ts'
import type { Admission } from '../people/admission.ts'
import { cutLine } from './context-line.ts'

const MOST_LINES = 100

export interface HeldContextDeps {
  readonly store: Pick<Store, 'heldWords'>
  readonly log: Logger
  readonly admission: Pick<Admission, 'mayBeHeard'>
}

/** Never throws, because the turn itself is more important. */
export type HeldContext = (row: TurnRow) => Promise<readonly ContextLine[]>

export function createHeldContext({ store, log, admission }: HeldContextDeps): HeldContext {
  const lineOf = async (word: HeldWord): Promise<ContextLine | null> => {
    if (word.kind === 'out') {
      const { send, by } = word
      // A message that did not arrive had no reader.
      if (send.state === 'failed' || send.op === null) return null
      const speaker = { id: `${by}, a person in your place` }
      const text = cutLine(opText(send.op))
      return {
        about: 'takeover',
        speaker,
        text,
        messageId: send.platformIds[0] ?? send.id,
        at: send.createdAt,
      }
    }
    const { body, sender, messageId, receivedAt } = word.turn
    if (!body || !(await admission.mayBeHeard(word.turn))) return null
    const files = (body.attachments ?? []).map((file) => `(attachment: ${file.name ?? file.kind})`)
    const text = cutLine([body.text, ...files].filter((part) => part.trim() !== '').join(' '))
    if (text === '') return null
    const speaker = body.senderName === undefined ? { id: sender } : { id: sender, name: body.senderName }
    return { about: 'takeover', speaker, text, messageId, at: receivedAt }
  }
  const read = async (row: TurnRow): Promise<readonly ContextLine[]> => {
    try {
      // An edited message shows its newest text at its first position.
      const lines = new Map<string, ContextLine>()
      for (const word of await store.heldWords(row.id, MOST_LINES)) {
        const line = await lineOf(word)
        if (line) lines.set(line.messageId, { ...line, at: lines.get(line.messageId)?.at ?? line.at })
      }
      return [...lines.values()]
    } catch (thrown) {
      log.warn({ turn: row.id, error: String(thrown) }, 'what was said in a takeover could not be read')
      return []
    }
  }
  // Reads run in parallel and resolve in order of the calls. Turns that were taken together continue in order.
  const inOrder = createSerial()
  return (row) => {
    const reading = read(row)
    return inOrder(() => reading)
  }
}
