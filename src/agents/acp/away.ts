// An agent that cannot be started. People hear that it is away, and it is tried again until it starts.
import type { AgentOutlet, Cancel, Clock } from '../../contract/index.ts'
import { problemOf } from './agent-link.ts'
import type { LiveSession } from './live-sessions.ts'

/** The delays between tries to start the agent. */
const AWAY_MS = [5_000, 30_000, 60_000, 300_000]

export interface Away {
  /** The start for this session failed. It is tried again. */
  begin(session: string, why: string): void
  /** The agent was started. */
  end(live: LiveSession): void
  stop(): void
}

interface AwayDeps {
  readonly clock: Clock
  readonly outlet: () => AgentOutlet | null
  readonly open: (session: string) => Promise<LiveSession>
  /** Why it cannot be started; null: it was. */
  readonly absentIs: (why: string | null) => void
}

export function createAway({ clock, outlet, open, absentIs }: AwayDeps): Away {
  let failures = 0
  let cancelNext: Cancel = () => undefined

  const begin = (session: string, why: string) => {
    absentIs(why)
    const pause = AWAY_MS[Math.min(failures, AWAY_MS.length - 1)] ?? 5_000
    failures += 1
    cancelNext()
    cancelNext = clock.after(pause, () => {
      if (outlet()) open(session).then(end, (thrown) => begin(session, problemOf(thrown)))
    })
  }
  const end = (live: LiveSession) => {
    if (live.turn === null) live.rest()
    if (failures === 0) return
    failures = 0
    cancelNext()
    absentIs(null)
    outlet()?.roomy()
  }
  return { begin, end, stop: () => cancelNext() }
}
