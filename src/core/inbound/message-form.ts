// The form of an event by its text or button alone. It is recognised once, on arrival, and every step reads it. The
// form decides nothing: an id may name no approval, and a sender may not be allowed to command.
import type { InboundEvent } from '../../contract/index.ts'
import { shownInTap, type VerdictForm, verdictInTap, verdictInText } from '../approvals/verdict-form.ts'
import { claimVerdict } from '../claims.ts'
import { type ChatCommand, chatCommand } from './command-step.ts'

export type MessageForm =
  | ({ readonly kind: 'verdict' } & VerdictForm)
  /** "Show all" of an approval. */
  | { readonly kind: 'show'; readonly id: string }
  | { readonly kind: 'claim'; readonly verdict: 'reply' | 'keep'; readonly on: string }
  | { readonly kind: 'command'; readonly command: ChatCommand }

/** Returns the form of an event; null: ordinary chat. */
export function messageForm(event: InboundEvent): MessageForm | null {
  switch (event.kind) {
    case 'verdict':
      return { kind: 'verdict', id: event.approval, behavior: event.behavior }
    case 'tap':
      return tapForm(event.value, event.on)
    case 'message': {
      const verdict = verdictInText(event.text)
      if (verdict) return { kind: 'verdict', ...verdict }
      const command = chatCommand(event)
      return command ? { kind: 'command', command } : null
    }
    default:
      return null
  }
}

function tapForm(value: string, on: string): MessageForm | null {
  const verdict = verdictInTap(value)
  if (verdict) return { kind: 'verdict', ...verdict }
  const id = shownInTap(value)
  if (id !== null) return { kind: 'show', id }
  const claim = claimVerdict(value)
  return claim === null ? null : { kind: 'claim', verdict: claim, on }
}
