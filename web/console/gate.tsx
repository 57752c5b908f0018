// What one sees without a session: what happened, and the one thing to do about it.
import type { JSX } from 'preact'
import { Logo } from '../shared/icons.tsx'
import type { Phase } from './session.ts'

export function Gate({ phase }: { readonly phase: Phase }): JSX.Element {
  if (phase === 'starting' || phase === 'open')
    return (
      <main class="gate" aria-busy="true">
        <Logo />
        <h1 class="hidden">Switchboard</h1>
        <p class="quiet">Opening the console…</p>
      </main>
    )
  if (phase === 'unreachable')
    return (
      <main class="gate">
        <Logo />
        <h1>The gateway does not answer</h1>
        <p role="status">
          <span class="spinner" aria-hidden="true" /> Trying again… Is <code>switchboard up</code> running?
        </p>
      </main>
    )
  return (
    <main class="gate">
      <Logo />
      <h1>{phase === 'stale-link' ? 'This link no longer works' : 'You are not signed in'}</h1>
      <p>
        {phase === 'stale-link'
          ? 'A link works once and for fifteen minutes. This one was used already, or it is too old.'
          : 'The console opens with a one-time link.'}
      </p>
      <p>Get a fresh one on the machine where Switchboard runs:</p>
      <pre class="gate-command">
        <code>switchboard console</code>
      </pre>
      <p class="quiet">
        Looking for the chat? It is at <a href="/chat">/chat</a>.
      </p>
    </main>
  )
}
