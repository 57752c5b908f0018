// Taking a lane: what is asked of the store, and what it gives.
import type { NewToken } from './records.ts'
import type { TurnRow } from './turn-records.ts'

export interface LaneRequest {
  readonly lane: string
  /** Present: we hold it. Absent: acquire it if it is free and due. */
  readonly token?: number
  /** How many turns may be in flight in this lane (inbox only). */
  readonly window?: number
  /**
   * With a token, after a take whose outcome was never heard: the turns that we know to be in flight. Others that are
   * found in flight were handed by the take that went unheard, and are given as left behind (inbox only).
   */
  readonly known?: readonly string[]
  /**
   * Asked within the take, before a turn is `handed`: one that it denies stays queued, with what is behind it, and is given
   * as `next` (inbox only). It answers from memory, at once, and may be asked twice.
   */
  readonly mayHand?: (turn: TurnRow) => boolean
  /** Made within the take for each turn that is handed, and kept in its commit (inbox only). May be asked twice: the last ones count. */
  readonly tokens?: (turn: TurnRow) => readonly NewToken[]
}

export type TakenTurns =
  | {
      readonly lane: string
      readonly outcome: 'taken'
      readonly token: number
      /** Moved queued → handed in this commit, oldest first, attempts counted. */
      readonly handed: readonly TurnRow[]
      /** Of `handed`, those whose place a person holds or once held: only there words of a takeover can be found. */
      readonly afterTakeover?: readonly string[]
      /**
       * On a fresh acquisition: what the former owner left in `handed` or `seen`; with `known`: what is in flight
       * besides. While there are any, nothing is handed.
       */
      readonly leftover: readonly TurnRow[]
      /** More are queued behind the window. */
      readonly more: boolean
      /** Still queued, and to be made ready first. */
      readonly next?: TurnRow
      /** No open turn is left in the lane (release it). */
      readonly empty: boolean
    }
  /** `busy`: another owner until `retryAt`. `later`: not before `retryAt`. `lost`: our token is no longer the lane's. */
  | { readonly lane: string; readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }
