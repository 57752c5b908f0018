// The input of an intake step: the event, where it belongs, and the facts known on arrival. They are gathered
// beforehand, so the steps are pure.
import type {
  Address,
  ApprovalRow,
  InboundEvent,
  IntegrationSettings,
  LimitPeek,
  NewSend,
  Settings,
} from '../../contract/index.ts'
import type { Words } from '../../words/index.ts'
import type { PromptLimit } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import type { MessageForm } from './message-form.ts'

export interface StepInput {
  readonly event: InboundEvent
  /** The form by its text alone; null: ordinary chat. */
  readonly form: MessageForm | null
  readonly integration: IntegrationSettings
  readonly settings: Settings
  readonly at: Address
  /** The agent whose binding takes this conversation; null when none does. */
  readonly agent: string | null
  readonly now: number
  /** The texts for the person who wrote. */
  readonly words: Words
  /** The event was missed and found in the history. The gate applies as of now, and commands in it have no effect. */
  readonly late: boolean
  readonly grants: GrantList
  /** The approval that a verdict-shaped message names: pending, or decided in the last 24 h; else null. */
  readonly approval: ApprovalRow | null
  /** Approvals that a bare "yes" may refer to; empty for every other message. */
  readonly waiting: readonly ApprovalRow[]
  /** The channel server that pushed a verdict was sent the request; false for everything else. */
  readonly asked: boolean
  /** The person who holds the place; null: none, or the message is neither a command nor a claim. */
  readonly heldBy: string | null
  /** The agents' state for `/status` and `/stop`; empty unless the message is a command. */
  readonly reach: AgentReach
  /** How much of a question fits into one message of this integration. */
  readonly promptLimit: PromptLimit
  /** Whether messages of this integration can be edited. */
  readonly canEdit: boolean
  /** Whether a long text can be shown there as a file. */
  readonly textAsFile: boolean
  /** Read already, not yet charged. */
  readonly senderLimit: LimitPeek
  /** The key that sets the limit: the tunable, or the binding's own. */
  readonly senderLimitKey: string
  readonly floodLimit: LimitPeek
  /** The tunable that sets the limit. Admitted senders and strangers have different ones. */
  readonly floodLimitKey: string
  /** Messages for a send that failed later; empty except for such a report. */
  readonly failureWords: readonly NewSend[]
  /** Returns a fresh pairing code when one is needed. */
  readonly freshCode: () => string
}

/** All agents, because the one behind an address is known only when the command runs. */
export interface AgentReach {
  readonly attached: readonly string[]
  /** Agents whose connectors can stop running work. */
  readonly stoppable: readonly string[]
}

export const NOBODY: AgentReach = { attached: [], stoppable: [] }
