// Taking a lane: the request to the store, and its result.
import type { NewToken } from './records.ts'
import type { TurnRow } from './turn-records.ts'

export interface LaneRequest {
  readonly lane: string
  /** Present: we hold it. Absent: acquire it if it is free and due. */
  readonly token?: number
  /** How many turns may be in flight in this lane (inbox only). */
  readonly window?: number
  /**
   * With a token, after a take whose result was lost: the turns that we know to be in flight. Any other turn in flight
   * was handed by that take, and is returned as left behind (inbox only).
   */
  readonly known?: readonly string[]
  /**
   * Called within the take, before a turn is `handed`. A denied turn stays queued, with the turns behind it, and is
   * returned as `next` (inbox only). It must answer at once from memory, and may be called twice.
   */
  readonly mayHand?: (turn: TurnRow) => boolean
  /**
   * Called within the take for each handed turn; the tokens are stored in its commit (inbox only). May be called
   * twice: the last result counts.
   */
  readonly tokens?: (turn: TurnRow) => readonly NewToken[]
}

export type TakenTurns =
  | {
      readonly lane: string
      readonly outcome: 'taken'
      readonly token: number
      /** Moved queued → handed in this commit, oldest first, attempts counted. */
      readonly handed: readonly TurnRow[]
      /** Those of `handed` whose place a person holds or once held. Only there can takeover messages exist. */
      readonly afterTakeover?: readonly string[]
      /**
       * On a fresh acquisition: turns that the former owner left in `handed` or `seen`; with `known`: other turns in
       * flight. While there are any, nothing is handed.
       */
      readonly unsettled: readonly TurnRow[]
      /** More turns are queued behind the window. */
      readonly more: boolean
      /** Still queued, and must be prepared first. */
      readonly next?: TurnRow
      /** No open turn is left in the lane (release it). */
      readonly empty: boolean
    }
  /**
   * `busy`: another owner until `retryAt`. `later`: not before `retryAt`. `lost`: our token is no longer the lane's.
   */
  | { readonly lane: string; readonly outcome: 'busy' | 'later' | 'lost'; readonly retryAt: number }
