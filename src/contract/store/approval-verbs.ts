// The store's verbs about questions to people: asked, decided once, passed on or given up.
import type { ApprovalRow, Decide, NewApproval } from './records.ts'
import type { NewSend } from './send-records.ts'
import type { ApprovalState } from './states.ts'

export interface ApprovalVerbs {
  /** Row and prompts in one commit. `collision`: the id is pending already, choose another. */
  ask(approval: NewApproval, prompts: readonly NewSend[]): Promise<'asked' | 'collision'>
  /**
   * Compare-and-set on a pending row. Cause `expired` ends in state `expired`, every other in `decided`. A person does not
   * win after `expiresAt`, whoever is to say that it expired. `words`: what the chats are told if it won, in the same commit.
   */
  decide(
    decide: Decide,
    words?: readonly NewSend[],
  ): Promise<{ readonly won: boolean; readonly approval: ApprovalRow | null }>
  /**
   * pending → withdrawn, decided → passing, passing → decided (nothing was written), decided or passing → relayed or
   * undeliverable; `words` with it. Null when it was in none of the states before.
   */
  settleApproval(
    id: string,
    to: 'passing' | 'decided' | 'relayed' | 'undeliverable' | 'withdrawn',
    words?: readonly NewSend[],
  ): Promise<ApprovalRow | null>
  /** This node asks for it from now on: what another one asked was asked again here. */
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
  /** How many wait for a decision, by agent. */
  pendingApprovals(): Promise<readonly { readonly agent: string; readonly count: number }[]>
}
