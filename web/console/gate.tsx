// The console without a session.
import type { JSX } from 'preact'
import { Gate, type GatePhase } from '../shared/gate.tsx'

export function ConsoleGate({ phase }: { readonly phase: GatePhase }): JSX.Element {
  return (
    <Gate phase={phase} page="the console" signedOut="You are not signed in" command="switchboard console">
      Looking for the chat? It is at <a href="/chat">/chat</a>.
    </Gate>
  )
}
