// The link of mode `events`. Slack posts to us, so there is no connection to watch. The link is up while Slack's API
// answers and knows the token, which is checked regularly. Without the API nothing can be sent, and missed messages
// cannot be found.
import { asSwitchboardError, type Clock, type Logger, type Random } from '../../../contract/index.ts'
import { type Link, type LinkState, pause, startLink } from '../../../kit/index.ts'
import type { SlackClient } from '../api/client.ts'
import { askSelf, type KnownSelf } from '../api/self.ts'
import type { Timings } from '../config.ts'

export function startEventsLink(
  timings: Pick<Timings, 'checkMs' | 'retryBaseMs' | 'retryMaxMs' | 'refusedMs'>,
  deps: {
    readonly client: SlackClient
    readonly self: KnownSelf
    readonly clock: Clock
    readonly random: Random
    readonly log: Logger
    readonly tell: (link: LinkState) => void
    /** Slack answers, for the first time or again. Missed messages are searched now. */
    readonly connected: () => void
  },
): Pick<Link, 'renew' | 'stop'> {
  const { client, self, clock, random, log, connected } = deps
  let wasAsked = false

  /** A remembered identity proves no contact, so Slack is asked. Learning it for the first time is a contact. */
  const ask = async () => {
    const isRemembered = wasAsked
    try {
      await self()
      wasAsked = true
      if (isRemembered) await askSelf(client)
    } catch (thrown) {
      // A rate limit is an answer too.
      if (asSwitchboardError(thrown).code !== 'rate_limited') throw thrown
    }
  }

  const link = startLink({
    ...{ clock, random, log, connected },
    report: deps.tell,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    refusedMs: timings.refusedMs,
    downAfter: 1,
    // Nothing has to end first.
    endMs: 0,
    words: { failed: 'Slack does not answer' },
    async connect({ signal, up }) {
      await ask()
      up()
      for (let problem: unknown = null; ; ) {
        await pause(clock, problem === null ? timings.checkMs : timings.retryBaseMs, signal)
        if (signal.aborted) return
        // A single failed check is repeated once before the link is shown as down.
        const first = problem
        problem = await ask().then(
          () => null,
          (thrown: unknown) => thrown,
        )
        if (first !== null && problem !== null) throw problem
      }
    },
  })
  return {
    stop: link.stop,
    renew(cause) {
      wasAsked = false
      link.renew(cause)
    },
  }
}
