// A takeover: a person holds a conversation in the agent's place. Its row, its verbs, and its view for operators.
//
// Each address has one live row, won by compare-and-set:
//
//   asked ──▶ held ──▶ ended        asked ──▶ ended (put aside)        held ──▶ ended (given, forced, timeout, right_lost)
//
// `asked`: the agent (`handoff`) or the person (`/human`) wants a person to step in. Nothing changes until one does.
import type { Address } from '../message/address.ts'
import type { Enqueued, NewSend, SendRow } from '../store/send-records.ts'
import type { TurnRow } from '../store/turn-records.ts'

export type TakeoverState = 'asked' | 'held' | 'ended'

/** `given`: by the holder. `forced`: by another person's `--force`. `withdrawn`: it was requested, and put aside. */
export type TakeoverEnd = 'given' | 'forced' | 'timeout' | 'right_lost' | 'withdrawn'

export interface TakeoverRow {
  readonly id: string
  readonly address: string
  readonly at: Address
  readonly platform: string
  readonly agent: string | null
  readonly state: TakeoverState
  /** Null: there was no request; a person took it directly. */
  readonly asked: {
    readonly by: string
    readonly reason: string | null
    readonly summary: string | null
    readonly at: number
  } | null
  /** The holder's name in the ledger; null while it is only requested. */
  readonly holder: string | null
  /** The name for people. */
  readonly holderName: string | null
  readonly since: number | null
  /** Taking the place counts as the first message. */
  readonly lastWordAt: number | null
  readonly ended: { readonly at: number; readonly how: TakeoverEnd; readonly by: string } | null
}

export interface Holder {
  readonly by: string
  readonly name: string
}

export interface TakeOrder extends Holder {
  readonly at: Address
  readonly platform: string
  readonly agent: string | null
  /** Takes it from a present holder. */
  readonly force: boolean
}

export interface TakeResult {
  /** False: another person holds it, and nothing was changed. `takeover` is theirs. */
  readonly won: boolean
  readonly takeover: TakeoverRow
  /** The takeover that `force` ended. */
  readonly previous: TakeoverRow | null
  /** Ended as consumed: held. */
  readonly queued: readonly string[]
  /** Ended as failed: cancelled. Their running work must be stopped. */
  readonly running: readonly { readonly id: string; readonly agent: string }[]
}

export interface SayOrder {
  readonly at: Address
  readonly by: string
}

export type SayResult =
  | { readonly outcome: 'said'; readonly takeover: TakeoverRow; readonly sends: readonly Enqueued[] }
  /** Null: the place is not held. */
  | { readonly outcome: 'not_holder'; readonly takeover: TakeoverRow | null }

export interface EndOrder {
  readonly at: Address
  readonly by: string
  readonly how: TakeoverEnd
  /** Only this takeover, because it may have ended and a new one begun. */
  readonly id?: string
  /** Only without messages since this time, because the timer's read may be stale. */
  readonly lastWordAt?: number
}

export type EndResult =
  | { readonly outcome: 'ended'; readonly takeover: TakeoverRow }
  | { readonly outcome: 'not_holder'; readonly takeover: TakeoverRow | null }

export interface AskOrder {
  readonly at: Address
  readonly platform: string
  readonly agent: string | null
  readonly by: string
  readonly reason: string | null
  readonly summary: string | null
}

/** Messages at a place while it was held, since the agent last got one from there; oldest first. */
export type HeldWord =
  | { readonly kind: 'in'; readonly turn: TurnRow }
  | { readonly kind: 'out'; readonly send: SendRow; readonly by: string }

export interface TakeoverVerbs {
  /**
   * Compare-and-set. The same commit ends queued turns of the address as `consumed: held`, and those in flight as
   * `failed: cancelled`. It increases the lane's token, so that they can no longer be settled.
   */
  takeOver(order: TakeOrder): Promise<TakeResult>
  /** Enqueues the holder's messages in the commit that confirms the hold. The timer starts again. */
  sayHeld(sends: readonly NewSend[], order: SayOrder): Promise<SayResult>
  endTakeover(order: EndOrder): Promise<EndResult>
  /** Requests a takeover. An existing live one is returned unchanged. */
  askTakeover(order: AskOrder): Promise<{ readonly asked: boolean; readonly takeover: TakeoverRow }>
  /** Live ones, oldest first. */
  takeovers(filter?: { readonly state?: 'asked' | 'held' }): Promise<readonly TakeoverRow[]>
  /** The live takeover of an address. */
  takeoverAt(at: Address): Promise<TakeoverRow | null>
  /** All takeovers of an address, newest first. */
  pastTakeovers(at: Address, limit: number): Promise<readonly TakeoverRow[]>
  /** Returns the takeover that prevents an agent's message there, or for that turn; null: none. */
  heldAgainst(at: Address, turn: string | null): Promise<TakeoverRow | null>
  heldWords(turn: string, limit: number): Promise<readonly HeldWord[]>
}

/** How a holder's messages are shown: as the bot's own, or with the holder's name in front. */
export interface TakeoverSettings {
  readonly as: 'bot' | 'name'
  /** Where people may ask for a person by `/human`. */
  readonly human: 'all' | readonly string[]
}

export const DEFAULT_TAKEOVER: TakeoverSettings = { as: 'bot', human: [] }

/** A takeover for operators; times are ISO 8601. */
export interface TakeoverView {
  readonly id: string
  readonly address: string
  readonly integration: string
  readonly conversation: string
  readonly thread: string | null
  readonly agent: string | null
  readonly state: TakeoverState
  readonly asked: {
    readonly by: string
    readonly reason: string | null
    readonly summary: string | null
    readonly at: string
  } | null
  readonly holder: string | null
  readonly holder_name: string | null
  readonly as: TakeoverSettings['as']
  readonly since: string | null
  readonly last_word_at: string | null
  /** When the timer ends it unless the holder writes; null: not held, or the timer is off. */
  readonly ends_at: string | null
  readonly ended: { readonly at: string; readonly how: TakeoverEnd; readonly by: string } | null
  /** The caller is the holder. */
  readonly mine: boolean
}

/** The text for a person who comes too late, and for an agent that writes there. */
export function heldByText({ holderName, holder }: Pick<TakeoverRow, 'holderName' | 'holder'>): string {
  return `held by ${holderName ?? holder ?? 'a person'}`
}
