// The store's verbs for approvals: asked, decided once, passed on or given up.
import type { ApprovalRow, Decide, NewApproval } from './records.ts'
import type { NewSend } from './send-records.ts'
import type { ApprovalState } from './states.ts'

export interface ApprovalVerbs {
  /** Writes row and prompts in one commit. `collision`: the id is pending already, choose another. */
  ask(approval: NewApproval, prompts: readonly NewSend[]): Promise<'asked' | 'collision'>
  /**
   * Compare-and-set on a pending row. Cause `expired` ends in state `expired`, every other in `decided`. A person
   * cannot win after `expiresAt`, even before the expiry is recorded. `words`: the messages to the chats if it won, in
   * the same commit.
   */
  decide(
    decide: Decide,
    words?: readonly NewSend[],
  ): Promise<{ readonly won: boolean; readonly approval: ApprovalRow | null }>
  /**
   * Moves pending → withdrawn, decided → passing, passing → decided (nothing was written), decided or passing →
   * relayed or undeliverable, with `words`. Null when it was in none of the states before.
   */
  settleApproval(
    id: string,
    to: 'passing' | 'decided' | 'relayed' | 'undeliverable' | 'withdrawn',
    words?: readonly NewSend[],
  ): Promise<ApprovalRow | null>
  /** This node becomes the asker, because another node's question was asked again here. */
  adoptApproval(id: string): Promise<void>
  approval(id: string): Promise<ApprovalRow | null>
  /** Newest first. */
  approvals(filter: {
    readonly states?: readonly ApprovalState[]
    readonly agent?: string
    readonly id?: string
    /** The asking host's own id of its request. */
    readonly hostId?: string
    readonly turn?: string
    readonly dueBefore?: number
    readonly beforeSeq?: number
    readonly limit: number
  }): Promise<readonly ApprovalRow[]>
  /** Returns how many wait for a decision, by agent. */
  pendingApprovals(): Promise<readonly { readonly agent: string; readonly count: number }[]>
}
