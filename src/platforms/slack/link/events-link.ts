// The link of mode `events`: Slack posts to us, so there is no connection to watch. It is up while Slack's API answers and
// knows the token. That is asked again and again: without the API nothing can be sent, and no history tells what was missed.
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
    /** It answers, for the first time or again: what was missed is looked for. */
    readonly connected: () => void
  },
): Pick<Link, 'renew' | 'stop'> {
  const { client, self, clock, random, log, connected } = deps
  let wasAsked = false

  /** What is remembered of us is no answer: only where nothing is, learning it is one. */
  const ask = async () => {
    const isRemembered = wasAsked
    try {
      await self()
      wasAsked = true
      if (isRemembered) await askSelf(client)
    } catch (thrown) {
      // A limit is an answer, too.
      if (asSwitchboardError(thrown).code !== 'rate_limited') throw thrown
    }
  }

  const link = startLink({
    ...{ clock, random, log, connected },
    report: deps.tell,
    retry: { baseMs: timings.retryBaseMs, maxMs: timings.retryMaxMs },
    refusedMs: timings.refusedMs,
    downAfter: 1,
    // It holds nothing that must end first.
    endMs: 0,
    words: { failed: 'Slack does not answer' },
    async connect({ signal, up }) {
      await ask()
      up()
      for (let problem: unknown = null; ; ) {
        await pause(clock, problem === null ? timings.checkMs : timings.retryBaseMs, signal)
        if (signal.aborted) return
        // One question that fails alone is asked once more before the link is shown as down.
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
