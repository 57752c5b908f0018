// A takeover: a person holds a conversation in the agent's place. Its row, the verbs over it, and what the desk shows of it.
//
// There is one live row an address, won by compare-and-set:
//   asked ──▶ held ──▶ ended        asked ──▶ ended (put aside)        held ──▶ ended (given, forced, timeout, right_lost)
// `asked`: the agent (`handoff`) or the person (`/human`) wants somebody to step in; nothing changes until somebody does.
import type { Address } from '../message/address.ts'
import type { Enqueued, NewSend, SendRow } from '../store/send-records.ts'
import type { TurnRow } from '../store/turn-records.ts'

export type TakeoverState = 'asked' | 'held' | 'ended'

/** `given`: by the holder. `forced`: by somebody else's `--force`. `withdrawn`: it was asked for, and put aside. */
export type TakeoverEnd = 'given' | 'forced' | 'timeout' | 'right_lost' | 'withdrawn'

export interface TakeoverRow {
  readonly id: string
  readonly address: string
  readonly at: Address
  readonly platform: string
  readonly agent: string | null
  readonly state: TakeoverState
  /** Null: nobody asked, somebody just took it. */
  readonly asked: {
    readonly by: string
    readonly reason: string | null
    readonly summary: string | null
    readonly at: number
  } | null
  /** As the ledger names whoever holds it; null while it is only asked for. */
  readonly holder: string | null
  /** As people read it. */
  readonly holderName: string | null
  readonly since: number | null
  /** Taking it counts as the first. */
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
  /** Whoever holds it loses it. */
  readonly force: boolean
}

export interface TakeResult {
  /** False: somebody else holds it, and nothing was changed. `takeover` is theirs. */
  readonly won: boolean
  readonly takeover: TakeoverRow
  /** Whom `force` took it from. */
  readonly previous: TakeoverRow | null
  /** Ended as consumed: held. */
  readonly queued: readonly string[]
  /** Ended as failed: cancelled; whatever runs for them is to be stopped. */
  readonly running: readonly { readonly id: string; readonly agent: string }[]
}

export interface SayOrder {
  readonly at: Address
  readonly by: string
}

export type SayResult =
  | { readonly outcome: 'said'; readonly takeover: TakeoverRow; readonly sends: readonly Enqueued[] }
  /** Null: nobody holds it. */
  | { readonly outcome: 'not_holder'; readonly takeover: TakeoverRow | null }

export interface EndOrder {
  readonly at: Address
  readonly by: string
  readonly how: TakeoverEnd
  /** Only this one: it may have ended and begun anew. */
  readonly id?: string
  /** Only where nothing was said since this time (the timer's look may be stale). */
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

/** What was said at a place while somebody held it, since the agent last heard from there; oldest first. */
export type HeldWord =
  | { readonly kind: 'in'; readonly turn: TurnRow }
  | { readonly kind: 'out'; readonly send: SendRow; readonly by: string }

export interface TakeoverVerbs {
  /**
   * Compare-and-set. In the same commit queued turns of the address end `consumed: held`, and those in flight
   * `failed: cancelled`, by a token that grows, so that nobody can settle them any more.
   */
  takeOver(order: TakeOrder): Promise<TakeResult>
  /** The holder's words, in the commit that finds them still holding. Their time begins anew. */
  sayHeld(sends: readonly NewSend[], order: SayOrder): Promise<SayResult>
  endTakeover(order: EndOrder): Promise<EndResult>
  /** Asks for one; where there is a live one already that one is returned, unchanged. */
  askTakeover(order: AskOrder): Promise<{ readonly asked: boolean; readonly takeover: TakeoverRow }>
  /** Live ones, the oldest first. */
  takeovers(filter?: { readonly state?: 'asked' | 'held' }): Promise<readonly TakeoverRow[]>
  /** The live one of an address. */
  takeoverAt(at: Address): Promise<TakeoverRow | null>
  /** All of an address, the newest first. */
  pastTakeovers(at: Address, limit: number): Promise<readonly TakeoverRow[]>
  /** Why an agent may say nothing there, or nothing for that turn any more: who holds or held it. */
  heldAgainst(at: Address, turn: string | null): Promise<TakeoverRow | null>
  heldWords(turn: string, limit: number): Promise<readonly HeldWord[]>
}

/** How a holder's words are shown: as the bot's own, or with the holder's name in front. */
export interface TakeoverSettings {
  readonly as: 'bot' | 'name'
  /** Where people may ask for a person by `/human`. */
  readonly human: 'all' | readonly string[]
}

export const DEFAULT_TAKEOVER: TakeoverSettings = { as: 'bot', human: [] }

/** One as the desk shows it; times are ISO 8601. */
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
  /** When the timer ends it unless the holder writes; null: it is not held, or the timer is off. */
  readonly ends_at: string | null
  readonly ended: { readonly at: string; readonly how: TakeoverEnd; readonly by: string } | null
  /** Whoever asks is the holder. */
  readonly mine: boolean
}

/** What whoever comes too late is told, and an agent that speaks there. */
export function heldByText({ holderName, holder }: Pick<TakeoverRow, 'holderName' | 'holder'>): string {
  return `held by ${holderName ?? holder ?? 'a person'}`
}
