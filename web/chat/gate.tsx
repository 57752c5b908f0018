// What one sees without a session: what happened, and the one thing to do about it.
import type { JSX } from 'preact'
import { Logo } from '../shared/icons.tsx'
import type { View } from './session.ts'

export function Gate({ phase }: { readonly phase: View['phase'] }): JSX.Element {
  if (phase === 'starting' || phase === 'open') {
    return (
      <main class="gate" aria-busy="true">
        <Logo />
        <p class="quiet">Opening the chat…</p>
      </main>
    )
  }
  if (phase === 'unreachable') {
    return (
      <main class="gate">
        <Logo />
        <h1>The gateway does not answer</h1>
        <p role="status">
          <span class="spinner" aria-hidden="true" /> Trying again… Is <code>switchboard up</code> running?
        </p>
      </main>
    )
  }
  return (
    <main class="gate">
      <Logo />
      <h1>{phase === 'stale-link' ? 'This link no longer works' : 'This browser is not signed in'}</h1>
      <p>
        {phase === 'stale-link'
          ? 'A link works once and for fifteen minutes. This one was used already, or it is too old.'
          : 'The chat opens with a one-time link.'}
      </p>
      <p>Get a fresh one on the machine where Switchboard runs:</p>
      <pre class="gate-command">
        <code>switchboard link</code>
      </pre>
      <p class="quiet">Signed in on another device? Its menu has “Link another device”.</p>
    </main>
  )
}
