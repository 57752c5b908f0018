// What a group said around a turn: messages without a mention, from people whom the gate admits now. The lines carry
// their speakers and go along with the turn. They are neither turns nor instructions.
import {
  type Clock,
  type ContextLine,
  type Delivery,
  type Logger,
  OVERHEARD_MS,
  type Store,
  type TurnRow,
} from '../../contract/index.ts'
import type { Admission } from '../people/admission.ts'
import { cutLine } from './context-line.ts'

const CONTEXT_LINES = 50
/** Edits and people without access reduce the lines, so more rows are read. */
const LOOKED_AT = 4 * CONTEXT_LINES

export interface GroupContextDeps {
  readonly store: Pick<Store, 'overheard'>
  readonly clock: Clock
  readonly log: Logger
  readonly admission: Pick<Admission, 'mayBeHeard'>
}

export type GroupContext = (row: TurnRow) => Promise<Pick<Delivery, 'context'>>

export function createGroupContext({ store, clock, log, admission }: GroupContextDeps): GroupContext {
  return async (row) => {
    if (row.body?.chat !== 'group') return {}
    try {
      const sinceMs = clock.now() - OVERHEARD_MS
      const overheard = await store.overheard(row.id, { sinceMs, limit: LOOKED_AT })
      const heard: TurnRow[] = []
      for (const one of overheard) if (await admission.mayBeHeard(one)) heard.push(one)
      const context = linesOf(heard, row.messageId)
      return context.length === 0 ? {} : { context }
    } catch (thrown) {
      // The turn itself is more important than its context.
      log.warn({ turn: row.id, error: String(thrown) }, 'what the group said before could not be read')
      return {}
    }
  }
}

/** An edited message shows its newest text at its first position. The turn's own message is not repeated. */
function linesOf(said: readonly TurnRow[], own: string): readonly ContextLine[] {
  const lines = new Map<string, ContextLine>()
  for (const { body, sender, messageId, receivedAt } of said) {
    if (!body || messageId === own) continue
    const files = (body.attachments ?? []).map((file) => `(attachment: ${file.name ?? file.kind})`)
    const text = cutLine([body.text, ...files].filter((part) => part.trim() !== '').join(' '))
    if (text === '') continue
    const name = body.senderName
    const speaker = name === undefined ? { id: sender } : { id: sender, name }
    lines.set(messageId, { speaker, text, messageId, at: lines.get(messageId)?.at ?? receivedAt })
  }
  return [...lines.values()].slice(-CONTEXT_LINES)
}
