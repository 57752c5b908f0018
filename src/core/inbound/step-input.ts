// What an intake step looks at: the event, where it belongs, and what was known when it came. Gathered beforehand,
// so that the steps themselves are pure.
import type {
  Address,
  ApprovalRow,
  InboundEvent,
  IntegrationSettings,
  LimitPeek,
  NewSend,
  Settings,
} from '../../contract/index.ts'
import type { PromptLimit } from '../outbound/links.ts'
import type { GrantBook } from '../people/approvers.ts'
import type { MessageForm } from './message-form.ts'

export interface StepInput {
  readonly event: InboundEvent
  /** By its words alone; null: ordinary chat. */
  readonly form: MessageForm | null
  readonly integration: IntegrationSettings
  readonly settings: Settings
  readonly at: Address
  /** The agent whose binding takes this conversation; null when none does. */
  readonly agent: string | null
  readonly now: number
  /** It was missed and found in the history: gated as of now, and what it would command is past. */
  readonly late: boolean
  readonly grants: GrantBook
  /** The approval that a verdict-shaped message names: pending, or decided in the last 24 h; else null. */
  readonly approval: ApprovalRow | null
  /** Approvals that a bare "yes" may have meant; empty for every other message. */
  readonly waiting: readonly ApprovalRow[]
  /** A channel server that pushed a verdict was sent the request that it answers; false for everything else. */
  readonly asked: boolean
  /** Who holds the place in the agent's stead; null: nobody, or the message is neither a command nor a claim. */
  readonly heldBy: string | null
  /** What `/status` and `/stop` tell of agents; nobody's unless the message is a command. */
  readonly reach: AgentReach
  /** How much of a question one message of this integration holds. */
  readonly promptLimit: PromptLimit
  /** Whether messages of this integration can be edited. */
  readonly canEdit: boolean
  /** Whether a long text can be shown there as a file. */
  readonly textAsFile: boolean
  /** Already looked at, not yet taken. */
  readonly senderLimit: LimitPeek
  /** The key that sets it: the tunable, or the binding's own. */
  readonly senderLimitKey: string
  readonly floodLimit: LimitPeek
  /** The tunable that sets it: those who may speak have another one than strangers. */
  readonly floodLimitKey: string
  /** What is said where a send turns out to have failed: empty for everything but such a report. */
  readonly failureWords: readonly NewSend[]
  /** A fresh pairing code, should one be needed. */
  readonly freshCode: () => string
}

/** Whichever of them an address leads to: that is known only when the command is carried out. */
export interface AgentReach {
  readonly attached: readonly string[]
  /** Their connectors can stop what runs. */
  readonly stoppable: readonly string[]
}

export const NOBODY: AgentReach = { attached: [], stoppable: [] }
