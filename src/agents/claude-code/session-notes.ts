// What has to outlive a restart of a session: which id Claude Code knows it by, and whether it ever began.
import { createSessionRecords } from '../../kit/processes/index.ts'
import { isFields, textOf } from './wire.ts'

export interface SessionNote {
  /** Claude Code's own id of the conversation; it changes when the conversation is cleared or forked. */
  readonly id: string
  /** Whether a process said that it began: from then on it is resumed. */
  readonly begun: boolean
}

export type SessionNotes = ReturnType<typeof createSessionRecords<SessionNote>>

/** A note that is broken is none: the conversation begins anew, and says so. */
export function createSessionNotes(folder: string): SessionNotes {
  return createSessionRecords(
    folder,
    (value): value is SessionNote =>
      isFields(value) &&
      /^[A-Za-z0-9-]{1,100}$/.test(textOf(value.id) ?? '') &&
      typeof value.begun === 'boolean',
  )
}
