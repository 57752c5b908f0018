// The console without a session.
import type { JSX } from 'preact'
import { Filled } from '../shared/filled.tsx'
import { Gate, type GatePhase } from '../shared/gate.tsx'
import { words } from './words.ts'

export function ConsoleGate({ phase }: { readonly phase: GatePhase }): JSX.Element {
  return (
    <Gate phase={phase} page={words.gate.page} signedOut={words.gate.signedOut} command="switchboard console">
      <Filled text={words.gate.chat} parts={{ link: <a href="/chat">/chat</a> }} />
    </Gate>
  )
}
