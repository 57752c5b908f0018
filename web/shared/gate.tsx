// The page without a session, of the chat and the console: what happened, and the one thing to do about it.
import type { ComponentChildren, JSX } from 'preact'
import { Filled } from './filled.tsx'
import { Logo } from './icons.tsx'
import { words } from './words.ts'

export type GatePhase = 'starting' | 'open' | 'unreachable' | 'stale-link' | 'no-session'

export interface GateProps {
  readonly phase: GatePhase
  /** The page's name in a sentence: "the chat". */
  readonly page: string
  readonly signedOut: string
  /** The command that prints a new link. */
  readonly command: string
  /** Shown to people who came by mistake, or have another way in. */
  readonly children: ComponentChildren
}

export function Gate({ phase, page, signedOut, command, children }: GateProps): JSX.Element {
  const { gate } = words
  if (phase === 'starting' || phase === 'open')
    return (
      <main class="gate" aria-busy="true">
        <Logo />
        <h1 class="hidden">Switchboard</h1>
        <p class="quiet">{gate.opening({ page })}</p>
      </main>
    )
  if (phase === 'unreachable')
    return (
      <main class="gate">
        <Logo />
        <h1>{gate.unreachable}</h1>
        <p role="status">
          <span class="spinner" aria-hidden="true" />{' '}
          <Filled text={gate.retrying} parts={{ command: <code>switchboard up</code> }} />
        </p>
      </main>
    )
  const isStale = phase === 'stale-link'
  return (
    <main class="gate">
      <Logo />
      <h1>{isStale ? gate.staleTitle : signedOut}</h1>
      <p>{isStale ? gate.stale : gate.opensByLink({ page })}</p>
      <p>{gate.howToGet}</p>
      <pre class="gate-command">
        <code>{command}</code>
      </pre>
      <p class="quiet">{children}</p>
    </main>
  )
}
