// Signals: lossy updates for the person's side (typing, delivery state). They are never queued, never awaited and never
// fatal.
import { type Address, defined, type Signal, type TurnRow, type TurnState } from '../contract/index.ts'

export type SignalSink = (to: Address, signal: Signal) => void

export function rowAddress(row: {
  readonly integration: string
  readonly conversation: string
  readonly thread: string | null
}): Address {
  return row.thread === null
    ? { integration: row.integration, conversation: row.conversation }
    : { integration: row.integration, conversation: row.conversation, thread: row.thread }
}

export function tellTurnState(sink: SignalSink, row: TurnRow, state: TurnState, reason?: string): void {
  sink(rowAddress(row), {
    kind: 'turn_state',
    turn: row.id,
    messageId: row.messageId,
    state,
    ...defined({ reason }),
  })
}
