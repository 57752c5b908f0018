// Everything that one person said, as it is read out or erased: one identity (an integration and a sender) at a time, in
// windows over the tables, so that neither memory nor other commits suffer.
import type { ApprovalRow } from '../store/records.ts'
import type { SendRow } from '../store/send-records.ts'
import type { TurnRow } from '../store/turn-records.ts'

export interface Identity {
  readonly integration: string
  readonly sender: string
}

/** How far the tables were read. */
export interface PersonCursor {
  readonly turns: number
  readonly sends: number
}

export const PERSON_START: PersonCursor = { turns: 0, sends: 0 }

export interface PersonWindow {
  /** What they said. */
  readonly turns: readonly TurnRow[]
  /** What was answered to that, and what was sent to a chat in which nobody else spoke. */
  readonly sends: readonly SendRow[]
  /** Tool calls that were asked about because of it. */
  readonly approvals: readonly ApprovalRow[]
  /** Null: this was the last. */
  readonly next: PersonCursor | null
}

export interface ErasedWindow {
  readonly turns: number
  readonly sends: number
  readonly approvals: number
  /** Still open: they keep their content until they are settled. */
  readonly open: number
  readonly next: PersonCursor | null
}

/** To be carried out by every node, on its own disk. */
export interface FileOrder {
  readonly id: string
  readonly integration: string
  readonly sender: string
  /** Names of the platform. */
  readonly refs: readonly string[]
}

/** What came of erasing a person. */
export interface ErasedPerson {
  readonly identities: readonly string[]
  readonly turns: number
  readonly sends: number
  readonly approvals: number
  readonly files: number
  readonly notifications: number
  readonly grants_revoked: number
  /** Not erased yet, for they are on their way: run it again. */
  readonly open: number
  /** Integrations that keep files and do not run: theirs were not looked at. */
  readonly files_left: readonly string[]
}

/** The store's verbs about one person's data. */
export interface PersonVerbs {
  /** Begins at PERSON_START; `next` leads on. */
  person(who: Identity, cursor: PersonCursor): Promise<PersonWindow>
  /** Empties the settled rows of a window; keys, counters and ledger stay. `next` leads on. */
  erasePerson(who: Identity, cursor: PersonCursor, by: string): Promise<ErasedWindow>
  forgetFile(integration: string, name: string): Promise<void>
  /** Empties what was notified to a user, at most `limit`; how many. Those of the outbox go with their sends. */
  eraseNotifications(user: string, limit: number): Promise<number>
  /** For the other nodes: this one has removed the files from its disk. */
  keepFileOrder(order: Omit<FileOrder, 'id'>): Promise<void>
  /** Those that this node has not carried out. */
  fileOrders(): Promise<readonly FileOrder[]>
  doneFileOrder(id: string): Promise<void>
}

/** One line of an export. */
export interface PersonLine {
  readonly kind: 'identity' | 'grant' | 'pairing' | 'turn' | 'send' | 'approval' | 'notification' | 'file'
  readonly [field: string]: unknown
}
