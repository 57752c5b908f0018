// All messages of one person, for export and erasure: one identity (an integration and a sender) at a time, in windows
// over the tables, so that memory and other commits are not burdened.
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
  /** Their messages. */
  readonly turns: readonly TurnRow[]
  /** The answers to them, and messages to a chat where only they wrote. */
  readonly sends: readonly SendRow[]
  /** The approvals behind them. */
  readonly approvals: readonly ApprovalRow[]
  /** Null: this was the last window. */
  readonly next: PersonCursor | null
}

export interface ErasedWindow {
  readonly turns: number
  readonly sends: number
  readonly approvals: number
  /** Still open: these keep their content until they are settled. */
  readonly open: number
  readonly next: PersonCursor | null
}

/** Every node carries it out on its own disk. */
export interface FileOrder {
  readonly id: string
  readonly integration: string
  readonly sender: string
  /** The platform's names of the files. */
  readonly refs: readonly string[]
}

/** The result of erasing a person. */
export interface ErasedPerson {
  readonly identities: readonly string[]
  readonly turns: number
  readonly sends: number
  readonly approvals: number
  readonly files: number
  readonly notifications: number
  readonly grants_revoked: number
  /** Not erased yet, because they are on their way: run it again. */
  readonly open: number
  /** Integrations that keep files and do not run. Their files were not checked. */
  readonly files_left: readonly string[]
}

/** The store's verbs for one person's data. */
export interface PersonVerbs {
  /** Begins at PERSON_START; `next` continues. */
  person(who: Identity, cursor: PersonCursor): Promise<PersonWindow>
  /** Empties the settled rows of a window; keys, counters and ledger stay. `next` continues. */
  erasePerson(who: Identity, cursor: PersonCursor, by: string): Promise<ErasedWindow>
  forgetFile(integration: string, name: string): Promise<void>
  /**
   * Empties at most `limit` notifications of a user and returns how many. Those in the outbox are erased with their
   * sends.
   */
  eraseNotifications(user: string, limit: number): Promise<number>
  /** Stores an order for the other nodes. This one has removed the files from its disk. */
  keepFileOrder(order: Omit<FileOrder, 'id'>): Promise<void>
  /** Returns the orders that this node has not carried out. */
  fileOrders(): Promise<readonly FileOrder[]>
  doneFileOrder(id: string): Promise<void>
}

/** One line of an export. */
export interface PersonLine {
  readonly kind: 'identity' | 'grant' | 'pairing' | 'turn' | 'send' | 'approval' | 'notification' | 'file'
  readonly [field: string]: unknown
}
