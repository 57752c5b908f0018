// The link of mode `events`: Slack posts to us, so there is no connection to watch. It is up while Slack's API answers and
// knows the token. That is asked again and again: without the API nothing can be sent, and no history tells what was missed.
import { asSwitchboardError, type Cancel, type Clock } from '../../../contract/index.ts'
import type { LinkState } from '../../../kit/index.ts'
import type { SlackClient } from '../api/client.ts'
import { askSelf, type KnownSelf } from '../api/self.ts'
import type { Timings } from '../config.ts'

export interface EventsLink {
  /** Now, because something was said about the token; what was remembered of us is forgotten. */
  look(): void
  stop(): void
}

export function startEventsLink(
  timings: Pick<Timings, 'checkMs' | 'retryBaseMs' | 'retryMaxMs'>,
  deps: {
    readonly client: SlackClient
    readonly self: KnownSelf
    readonly clock: Clock
    readonly tell: (link: LinkState) => void
    /** It answers, for the first time or again: what was missed is looked for. */
    readonly connected: () => void
  },
): EventsLink {
  const { client, self, clock } = deps
  let stopped = false
  let isUp = false
  let failures = 0
  let wasAsked = false
  let cancel: Cancel = () => undefined

  /** What is remembered of us is no answer: only where nothing is, learning it is one. */
  const ask = async () => {
    const isRemembered = wasAsked
    await self()
    wasAsked = true
    if (isRemembered) await askSelf(client)
  }

  const again = (ms: number) => {
    cancel()
    cancel = clock.after(ms, () => void look())
  }

  const look = async () => {
    const problem = await ask().then(() => null, problemOf)
    if (stopped) return
    if (problem === null) {
      failures = 0
      if (!isUp) {
        isUp = true
        deps.tell({ state: 'up', since: clock.now() })
        deps.connected()
      }
      return again(timings.checkMs)
    }
    failures += 1
    // One that fails alone is asked once more before anybody is alarmed.
    if (!isUp || failures > 1) {
      isUp = false
      deps.tell({ state: 'down', detail: problem })
    }
    again(Math.min(timings.retryMaxMs, timings.retryBaseMs * 2 ** Math.min(failures, 20)))
  }
  void look()

  return {
    look() {
      isUp = false
      wasAsked = false
      void look()
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}

/** Null: a limit is an answer, too. */
function problemOf(thrown: unknown): string | null {
  const { code, message } = asSwitchboardError(thrown, 'platform_unavailable')
  return code === 'rate_limited' ? null : message
}
