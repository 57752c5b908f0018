// The chat without a session.
import type { JSX } from 'preact'
import { Gate, type GatePhase } from '../shared/gate.tsx'
import { words } from './words.ts'

export function ChatGate({ phase }: { readonly phase: GatePhase }): JSX.Element {
  return (
    <Gate phase={phase} page={words.gate.page} signedOut={words.gate.signedOut} command="switchboard link">
      {words.gate.otherDevice}
    </Gate>
  )
}
