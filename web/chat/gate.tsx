// The chat without a session.
import type { JSX } from 'preact'
import { Gate, type GatePhase } from '../shared/gate.tsx'

export function ChatGate({ phase }: { readonly phase: GatePhase }): JSX.Element {
  return (
    <Gate phase={phase} page="the chat" signedOut="This browser is not signed in" command="switchboard link">
      Signed in on another device? Its menu has “Link another device”.
    </Gate>
  )
}
