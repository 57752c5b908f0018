// The connector `http`: any agent behind a URL. A turn is one signed POST. The response is the answer, or a receipt for
// an answer that comes to `reply_url`.
//
// A turn is posted again while no 2xx came: it goes back to the queue and is tried later under the same id. A complete
// answer and the end of the turn are one commit, so an answer that a crash cut is posted again. A 202 is stored as
// seen, and the agent sends the rest to `reply_url`. The hand-over lasts as long as the answer, so that a stop waits
// for it. An answer at `reply_url` ends the hand-over too.
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

/** Open requests of one agent on one node. Further turns stay queued. */
const MOST_OPEN = 64
const FULL_MS = 1_000
/** So long that the connector's own time-out always ends first: that one stands still while a person is asked. */
const HEAD_MS = 7 * 24 * 3_600_000
/** Final refusals: the next turn would be refused the same way. */
const REFUSED = new Set<string>(['platform_rejected', 'forbidden'])
const CONNECT_MS = 10_000
/** A stop waits this long for answers. Later ones come to `reply_url`, or the turn is posted again if no 2xx came. */
const STOP_MS = 5_000

interface Exchange {
  readonly session: string
  readonly abort: AbortController
  readonly work: Promise<void>
  /** The turn was answered another way, so the response is no longer needed. */
  readonly answered: () => void
}

/** Throws `config_invalid` for invalid options. `fetch` is for tests. */
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
      // The connector is stopping. The next owner of the turn continues it.
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
    // One turn at a time: a small agent keeps no queue, and answers must stay in order.
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

  /** Resolves when no answer is being taken any more, or after a while. */
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

// The time limit of an answer is `timeout`, without the time in which a person is asked. That time is read from the
// stored approvals at the end, because a question may have come through another node.

/** The delay before the stored approvals are read again, when the store is away or a decision was just made. */
const AGAIN_MS = 1_000

function createAnswerDeadline(deps: {
  readonly clock: Clock
  readonly timeoutMs: number
  /** Returns the milliseconds since `since` in which a person was asked. */
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
