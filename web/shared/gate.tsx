// What one sees without a session, on the chat and the console: what happened, and the one thing to do about it.
import type { ComponentChildren, JSX } from 'preact'
import { Logo } from './icons.tsx'

export type GatePhase = 'starting' | 'open' | 'unreachable' | 'stale-link' | 'no-session'

export interface GateProps {
  readonly phase: GatePhase
  /** As it is spoken of: "the chat". */
  readonly page: string
  readonly signedOut: string
  /** What prints a fresh link. */
  readonly command: string
  /** For whoever came here by mistake, or has another way in. */
  readonly children: ComponentChildren
}

export function Gate({ phase, page, signedOut, command, children }: GateProps): JSX.Element {
  if (phase === 'starting' || phase === 'open')
    return (
      <main class="gate" aria-busy="true">
        <Logo />
        <h1 class="hidden">Switchboard</h1>
        <p class="quiet">Opening {page}…</p>
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
  const isStale = phase === 'stale-link'
  return (
    <main class="gate">
      <Logo />
      <h1>{isStale ? 'This link no longer works' : signedOut}</h1>
      <p>
        {isStale
          ? 'A link works once and for fifteen minutes. This one was used already, or it is too old.'
          : `${page.replace(/^t/, 'T')} opens with a one-time link.`}
      </p>
      <p>Get a fresh one on the machine where Switchboard runs:</p>
      <pre class="gate-command">
        <code>{command}</code>
      </pre>
      <p class="quiet">{children}</p>
    </main>
  )
}
