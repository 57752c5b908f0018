// The connector `http`: any agent behind a URL. A turn is one signed POST; the response is the answer, or a receipt for one
// that comes to `reply_url`.
//
// A turn is posted again while no 2xx came: it is refused, put back and tried later under the same id. A complete answer is one
// commit with the end of the turn, so one that a crash cut is posted again. A 202 is committed as seen: the agent says the rest at
// `reply_url`. The hand-over lasts as long as the answer does, so that a stop waits for what is being said; a turn that is
// answered at `reply_url` meanwhile is handed over by that.
import {
  type AgentConnector,
  type AgentOutlet,
  asSwitchboardError,
  type Clock,
  type ConnectorDeps,
  type Delivery,
  SwitchboardError,
} from '../../contract/index.ts'
import { createStreamingFetch, handOverError, type StreamingFetch, TURN_TOKENS } from '../../kit/index.ts'
import { composeTurn } from './compose-turn.ts'
import { readConfig } from './config.ts'
import { post } from './post.ts'
import { createReplyEndpoint } from './reply-endpoint.ts'
import { createTakeAnswer } from './take-answer.ts'

/** Requests of one agent that may be open at once on a node; the rest stays queued. */
const MOST_OPEN = 64
const FULL_MS = 1_000
/** The connector's own time-out, which covers the whole answer and stands still while a person is asked, comes first. */
const HEAD_MS = 7 * 24 * 3_600_000
/** The agent refused, or its address is not allowed: the next turn meets the same. */
const REFUSED = new Set<string>(['platform_rejected', 'forbidden'])
const CONNECT_MS = 10_000
/** What is not answered by then is left to `reply_url`, or posted again where no 2xx came. */
const STOP_MS = 5_000

interface Exchange {
  readonly session: string
  readonly abort: AbortController
  readonly work: Promise<void>
  /** The turn was answered another way: nobody waits for the response any more. */
  readonly answered: () => void
}

/** Throws `config_invalid` when the options do not hold. `fetch` can be handed in. */
export function createHttpAgent(deps: ConnectorDeps, fetch?: StreamingFetch): AgentConnector {
  const config = readConfig(deps)
  const { clock } = deps
  const { allowPrivate, timeoutMs } = config
  const reach =
    fetch ??
    createStreamingFetch({ clock, allowPrivate, headTimeoutMs: HEAD_MS, connectTimeoutMs: CONNECT_MS })
  const exchanges = new Map<string, Exchange>()
  let outlet: AgentOutlet | null = null

  const present = (): AgentOutlet => {
    if (outlet) return outlet
    throw new SwitchboardError('draining', 'the agent is being stopped', { retryAfterMs: 2_000 })
  }
  const takeAnswer = createTakeAnswer({ ...deps, outlet: present })
  const replies = createReplyEndpoint({
    ...deps,
    outlet: present,
    answered: (turn) => exchanges.get(turn)?.answered(),
  })

  const exchange = async (delivery: Delivery, abort: AbortController): Promise<void> => {
    const { turn } = delivery
    const body = JSON.stringify(await composeTurn(delivery, config, deps))
    let late = false
    const deadline = createAnswerDeadline({
      clock,
      timeoutMs,
      askedMs: async (since) => present().askedMs(turn, since),
    })
    const cancelDeadline = deadline.start(() => {
      late = true
      abort.abort()
    })
    try {
      const answered = () => outlet?.reached()
      const response = await post(
        { config, id: turn, body, signal: abort.signal, now: clock.now(), answered },
        reach,
      )
      if (response === 'aborted' && late) return await takeAnswer.silent(delivery, timeoutMs)
      // It was told to stop: where it goes on is decided by whoever has the turn next.
      if (response === 'aborted') throw new SwitchboardError('draining', 'the request was ended here')
      if (response.status === 202 || config.mode === 'later') {
        await takeAnswer.promised(delivery)
        await response.body?.cancel().catch(() => undefined)
        return
      }
      const ended = () => (late ? 'late' : abort.signal.aborted ? 'aborted' : null)
      const taken = await takeAnswer.from(delivery, response, { timeoutMs, ended })
      if (!taken) throw new SwitchboardError('draining', 'the answer was not read to its end')
    } finally {
      cancelDeadline()
    }
  }

  return {
    redelivery: { handed: 'wait', seen: 'wait', cut: 'again', afterTimeout: false },
    // One after the other: an agent of a few lines keeps no queue, and answers must not overtake each other.
    window: 1,
    mints: TURN_TOKENS,
    holdsDecisions: true,
    fetchesVerdicts: true,
    finishMs: timeoutMs,
    async start(given) {
      outlet = given
      given.presence(true)
    },
    async deliver(delivery) {
      if (exchanges.size >= MOST_OPEN)
        throw new SwitchboardError('agent_absent', `${MOST_OPEN} requests are open already`, {
          retryAfterMs: FULL_MS,
        })
      const abort = new AbortController()
      const work = exchange(delivery, abort)
      const elsewhere = new Promise<void>((answered) => {
        exchanges.set(delivery.turn, { session: delivery.session, abort, work, answered })
      })
      const over = () => {
        if (exchanges.get(delivery.turn)?.work === work) exchanges.delete(delivery.turn)
      }
      work.then(over, over)
      try {
        await Promise.race([work, elsewhere])
      } catch (thrown) {
        const error = asSwitchboardError(thrown, 'platform_unavailable')
        if (REFUSED.has(error.code)) outlet?.reached(error.message)
        throw handOverError(error, delivery.attempt)
      }
    },
    verdict: async ({ approval }) => (replies.wake(approval) ? 'relayed' : 'fetched'),
    async cancel(session, turn) {
      const running = [...exchanges].filter(([id, one]) => one.session === session && (turn ?? id) === id)
      for (const [, one] of running) one.abort.abort()
      return running.length > 0
    },
    callback: (scope, request) => replies.callback(scope, request),
    async stop() {
      await underWay()
      for (const { abort } of exchanges.values()) abort.abort()
      replies.stop()
      outlet?.presence(false)
      outlet = null
    },
  }

  /** Resolves when no answer is being said any more, or after a while. */
  function underWay(): Promise<void> {
    if (exchanges.size === 0) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = clock.after(STOP_MS, resolve)
      void Promise.allSettled([...exchanges.values()].map(({ work }) => work)).then(() => {
        cancel()
        resolve()
      })
    })
  }
}

// How long an answer may take: `timeout`, and the time in which a person is asked does not count. It is asked for at the end,
// of the rows, for a question may have come through another node.

/** A store that is away, or an approval that was decided just now, is asked again. */
const AGAIN_MS = 1_000

function createAnswerDeadline(deps: {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Milliseconds since `since` in which a person was asked. */
  readonly askedMs: (since: number) => Promise<number>
}): { start(passed: () => void): () => void } {
  const { clock, timeoutMs } = deps
  return {
    start(passed) {
      const since = clock.now()
      let over = false
      let cancel = () => {}
      const look = async () => {
        const asked = await deps.askedMs(since).catch(() => null)
        if (over) return
        const leftMs = asked === null ? AGAIN_MS : since + timeoutMs + asked - clock.now()
        if (leftMs > 0) again(Math.max(leftMs, AGAIN_MS))
        else passed()
      }
      const again = (ms: number) => {
        cancel = clock.after(ms, () => void look())
      }
      again(timeoutMs)
      return () => {
        over = true
        cancel()
      }
    },
  }
}
