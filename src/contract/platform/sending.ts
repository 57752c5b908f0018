// Records of sending: claims and their routes, the notification log, and fired schedules.
import type { Urgency } from '../message/message.ts'
import type { ClaimState } from '../store/states.ts'

// ---- claims and routes --------------------------------------------------------------------------------------

/** The right of a session to the next reply in a chat where it writes first. */
export interface ClaimOffer {
  readonly session: string
  readonly agent: string
  readonly label: string
}

export interface ClaimRow extends ClaimOffer {
  readonly integration: string
  readonly conversation: string
  readonly thread: string | null
  /** The platform's id of the (last part of the) message that offers it. A reply to it, or a tap on it, decides. */
  readonly messageId: string
  readonly state: ClaimState
  readonly send: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly decidedBy: string | null
  readonly decidedAt: number | null
}

/** Where an address leads now, when that is not its own session. */
export interface RouteRow extends ClaimOffer {
  readonly address: string
  readonly messageId: string
  readonly since: number
}

/** The texts for a decided claim; `{label}` is replaced. */
export interface ClaimTexts {
  readonly threaded: string
  readonly kept: string
  readonly unreachable: string
}

export interface ClaimRules {
  /** Messages that this one answers. The claim of one of them wins, for this message alone. */
  readonly answers: readonly string[]
  /** A plain message of a person who may claim. It takes the newest open claim, like a tap. */
  readonly takesNewest: boolean
  /** Agents that can be reached. The claim of any other is given back. */
  readonly agents: readonly string[]
  readonly texts: ClaimTexts
  /** Whether the message that offered it can be edited. */
  readonly canEdit: boolean
}

/** `late`: expired or decided before. `none`: there is no such claim. */
export type ClaimOutcome = 'claimed' | 'kept' | 'late' | 'unreachable' | 'none'

// ---- notifications ------------------------------------------------------------------------------------------

export interface NewNotification {
  readonly user: string
  readonly agent: string | null
  readonly session: string | null
  /** As requested, or `type:id` of the default. */
  readonly channel: string
  readonly message: string
  readonly urgency: Urgency
  /** `agent`: a tool call. `notify_on`: the end of a turn. `operator`: the command line or the API. */
  readonly source: 'agent' | 'notify_on' | 'operator'
}

export interface NotificationRow extends Omit<NewNotification, 'message'> {
  readonly id: string
  /** Null once pruned. */
  readonly message: string | null
  readonly digest: string
  /** `not_sent`: nothing was due (notify_on). With a row in the outbox: that row's state. */
  readonly status: 'queued' | 'sent' | 'deduplicated' | 'failed' | 'unknown' | 'not_sent'
  readonly error: string | null
  readonly send: string | null
  /** The notified address; null: nothing was sent. */
  readonly to: string | null
  readonly at: number
}

// ---- schedules ----------------------------------------------------------------------------------------------

/**
 * The place of turns that a schedule started: conversation = agent, thread = schedule. No integration can have this
 * id, and nothing can be sent there.
 */
export const SCHEDULE_PLACE = '_schedule'

export interface Firing {
  readonly agent: string
  readonly schedule: string
  /** The time that the schedule named, not when it was noticed. */
  readonly fireAt: number
  /** `first_seen`: the mark from which missed times are counted. `removed`: no longer configured. */
  readonly outcome: 'run' | 'skipped' | 'first_seen' | 'removed'
  /** The configured times: expression and time zone. */
  readonly times: string
}

export interface FiringRow extends Omit<Firing, 'times'> {
  /** Null: fired before this was stored. */
  readonly times: string | null
  readonly node: string
  readonly turn: string | null
  readonly at: number
}
