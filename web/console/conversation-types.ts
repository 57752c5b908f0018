// Conversations and takeovers as `/api/conversations` tells them.
import type { ApprovalView, SendView, TurnEventView, TurnView } from '../../src/contract/desk-views.ts'

export interface Takeover {
  readonly id: string
  readonly address: string
  readonly agent: string | null
  readonly state: 'asked' | 'held' | 'ended'
  readonly asked: {
    readonly by: string
    readonly reason: string | null
    readonly summary: string | null
    readonly at: string
  } | null
  readonly holder: string | null
  readonly holder_name: string | null
  readonly as: 'bot' | 'name'
  readonly since: string | null
  readonly last_word_at: string | null
  readonly ends_at: string | null
  readonly ended: { readonly at: string; readonly how: string; readonly by: string } | null
  readonly mine: boolean
}

export interface Conversation {
  readonly address: string
  readonly integration: string
  readonly platform: string
  readonly agent: string | null
  readonly sender: string | null
  readonly sender_name: string | null
  readonly chat: string | null
  readonly first_at: string
  readonly last_at: string
  readonly turns: number
  readonly sends: number
  readonly last: {
    readonly direction: 'in' | 'out'
    readonly text: string | null
    readonly state: string
    readonly at: string
  } | null
  readonly takeover: Takeover | null
}

export type ThreadItem = { readonly id: string; readonly at: string } & (
  | ({
      readonly kind: 'turn'
      readonly edit_version: number
      readonly repeat: boolean
      readonly attachments: readonly {
        readonly id: string
        readonly kind: string
        readonly name?: string
        readonly mime?: string
        readonly size?: number
      }[]
      readonly reply_to: string | null
      readonly takeover: string | null
      readonly events: readonly TurnEventView[]
      readonly approvals: readonly ApprovalView[]
    } & TurnView)
  | ({ readonly kind: 'send'; readonly by: string | null } & SendView)
  | ({ readonly kind: 'takeover' } & Takeover)
)
