// What must survive a restart of a session: the id under which Claude Code keeps it, and whether it was begun.
import { createSessionRecords } from '../../kit/processes/index.ts'
import { isFields, textOf } from './wire.ts'

export interface SessionNote {
  /** Claude Code's own id of the conversation. It changes when the conversation is cleared or forked. */
  readonly id: string
  /** A process reported that it began. It is resumed from then on. */
  readonly begun: boolean
}

export type SessionNotes = ReturnType<typeof createSessionRecords<SessionNote>>

/** A damaged note counts as none. The conversation then begins again, and says so. */
export function createSessionNotes(folder: string): SessionNotes {
  return createSessionRecords(
    folder,
    (value): value is SessionNote =>
      isFields(value) &&
      /^[A-Za-z0-9-]{1,100}$/.test(textOf(value.id) ?? '') &&
      typeof value.begun === 'boolean',
  )
}
