// The loop that keeps one link of an adapter connected.
//
//   (take the lease) → connect → up → ended → (wait) → connect → …
//
// - While another node holds the lease, the link is `waiting`. When the lease is lost, every connection ends at once.
// - A failure is waited out by backoff with jitter, or as long as the platform asks. None ends the loop.
// - A connection that lasted for `steadyMs` is replaced at once when it ends. A shorter one counts as a failure, so a
//   server that accepts and hangs up is not hammered.
// - With `overlaps`, the next connection stands before the present one is left.
// - A probe without an answer, twice in a row, ends the connection. Silence alone never does.
import {
  asSwitchboardError,
  type Cancel,
  defined,
  LEASE_RENEW_MS,
  SwitchboardError,
} from '../../contract/index.ts'
import { backoffMs } from './backoff.ts'
import { createLeasedLink } from './leased-link.ts'
import type { Link, LinkEnding, LinkOptions, LinkWords, LiveConnection } from './link.ts'
import { pause, withinTime } from './pause.ts'

const CONNECT_MS = 120_000
const END_MS = 10_000
const PROBE_MS = 10_000
const REFUSED_MS = 60_000
const STEADY_MS = 10_000
const MISSED_PROBES = 2
const WORDS: LinkWords = {
  failed: 'the link could not be made',
  lost: 'the lease of its connection was lost',
  elsewhere: 'another node is connected for this integration',
  unknown: 'the store does not say which node is connected',
}

interface Outcome extends LinkEnding {
  /** What was thrown. */
  readonly error?: SwitchboardError
  /** We ended it ourselves, so it is no failure. */
  readonly wanted?: true
}

interface Attempt {
  /** Null: it does not work yet. */
  live: LiveConnection | null
  stoodAt: number
  readonly signal: AbortSignal
  /** Resolves when the next connection is needed. */
  readonly outcome: Promise<Outcome>
  /** Resolves when it ended, or did not within `endMs`. */
  readonly over: Promise<void>
  /** Asks for the next one. With `overlaps` this one goes on. */
  replace(outcome: Outcome): void
  end(outcome: Outcome): void
}

/** Starts at once. Ends with `stop` alone. */
export function startLink(options: LinkOptions): Link {
  const { clock, log, report, steadyMs = STEADY_MS, downAfter = 2, endMs = END_MS } = options
  const words = { ...WORDS, ...options.words }
  /** All that did not end yet: the link, the next one, and those that are being left. */
  const open = new Set<Attempt>()
  let current: Attempt | null = null
  let failures = 0
  let stopped = false
  let waiting = new AbortController()

  const wait = async (ms: number) => {
    waiting = new AbortController()
    if (!stopped && ms > 0) await pause(clock, ms, waiting.signal)
  }
  const endAll = (why: string) => {
    for (const attempt of [...open]) attempt.end({ why, wanted: true })
  }

  const stands = (attempt: Attempt, live: LiveConnection) => {
    attempt.live = live
    attempt.stoodAt = clock.now()
    current = attempt
    for (const other of [...open]) {
      if (other === attempt) continue
      if (other.live?.leave !== undefined) other.live.leave()
      else other.end({ why: 'the next connection stands', wanted: true })
    }
    if (failures > 0 && words.failed !== '') log.info({}, 'connected again')
    report({ state: 'up', since: attempt.stoodAt, ...defined({ detail: live.detail }) })
    options.connected?.()
    void keepProbing(attempt)
  }

  const keepProbing = async (attempt: Attempt) => {
    const { probeEveryMs } = options
    if (probeEveryMs === undefined || attempt.live?.probe === undefined) return
    for (let missed = 0; missed < MISSED_PROBES; ) {
      // One is missed whenever this process is busy for a while. It is then asked again at once.
      if (missed === 0) await pause(clock, probeEveryMs, attempt.signal)
      if (attempt !== current || attempt.signal.aborted) return
      missed = (await isHeard(attempt.live)) ? 0 : missed + 1
    }
    if (attempt === current) attempt.end(failure('its probes are not answered'))
  }
  const isHeard = async ({ probe }: LiveConnection) =>
    (await withinTime(clock, options.probeMs ?? PROBE_MS, async () => probe?.())) === true

  const begin = (): Attempt => {
    const abort = new AbortController()
    let deadline: Cancel = () => undefined
    let ended: Outcome | null = null
    let isReplaced = false
    let need: (outcome: Outcome) => void = () => undefined
    let finish: () => void = () => undefined
    const attempt: Attempt = {
      live: null,
      stoodAt: 0,
      signal: abort.signal,
      outcome: new Promise((resolve) => {
        need = resolve
      }),
      over: new Promise((resolve) => {
        finish = resolve
      }),
      replace(outcome) {
        if (attempt !== current) return
        if (options.overlaps === undefined) return attempt.end(outcome)
        isReplaced = true
        need(outcome)
      },
      end(outcome) {
        if (ended !== null) return
        ended = outcome
        if (current === attempt) current = null
        abort.abort(new SwitchboardError('platform_unavailable', outcome.why))
        deadline()
        // A connection that ignores its signal is left behind. Its `up` throws from now on.
        deadline = clock.after(endMs, () => {
          need(outcome)
          finish()
        })
      },
    }
    open.add(attempt)
    const limitMs = options.connectMs === undefined ? CONNECT_MS : options.connectMs
    if (limitMs !== null)
      deadline = clock.after(limitMs, () => attempt.end(failure(`no connection within ${limitMs / 1_000} s`)))
    const run = async (): Promise<Outcome> => {
      try {
        const ending = await options.connect({
          signal: abort.signal,
          up(live = {}) {
            abort.signal.throwIfAborted()
            if (attempt.live !== null) return
            deadline()
            stands(attempt, live)
          },
          replace: attempt.replace,
        })
        return ending ?? { why: 'the connection ended' }
      } catch (thrown) {
        const error = asSwitchboardError(thrown, 'platform_unavailable')
        return { why: error.message, error }
      }
    }
    void run().then((outcome) => {
      deadline()
      open.delete(attempt)
      if (current === attempt) {
        current = null
        // The loop is busy with the next one, which does not stand yet.
        if (isReplaced) report({ state: 'connecting', detail: outcome.why })
      }
      // Whatever still listens to the signal ends, too.
      abort.abort()
      need(ended ?? outcome)
      finish()
    })
    return attempt
  }

  /** Counts, reports and waits out what made the next connection necessary. */
  const follow = async ({ why, error, down, wanted, ...outcome }: Outcome, { live, stoodAt }: Attempt) => {
    if (stopped) return
    if (wanted) {
      if (current === null) report({ state: 'connecting', detail: why })
      return
    }
    const wasSteady = live !== null && clock.now() - stoodAt >= steadyMs
    if (wasSteady) failures = 0
    if (!wasSteady || error !== undefined || down) failures += 1
    // One refusal can be a moment's. The third in a row is taken at its word.
    const refusedMs = failures > 2 ? (options.refusedMs ?? REFUSED_MS) : 0
    const hintMs = error?.retryAfterMs ?? 0
    const waitMs = Math.max(
      error?.code === 'rate_limited' ? hintMs : Math.min(hintMs, refusedMs),
      outcome.waitMs ?? 0,
      failures === 0 ? 0 : backoffMs(failures, outcome.retry ?? options.retry, options.random),
    )
    // A connection that is being left still delivers.
    if (current === null)
      report(
        { state: down || failures >= downAfter ? 'down' : 'connecting', detail: why },
        { failures, waitMs, why },
      )
    if (failures === 0) log.info({ cause: why }, 'the connection ended and is made again')
    if (failures === 1 && words.failed !== '') log.warn({ problem: why }, words.failed)
    await wait(waitMs)
  }

  const lease = createLeasedLink(options.lease, {
    clock,
    words,
    report,
    ...defined({ rules: options.leaseRules }),
    onLost() {
      log.warn({}, words.lost)
      endAll(words.lost)
    },
  })

  const loop = async () => {
    while (!stopped) {
      if (!(await lease.mayConnect(failures))) {
        await wait(options.leaseRules?.renewMs ?? LEASE_RENEW_MS)
        continue
      }
      if (stopped) return
      const attempt = begin()
      const outcome = await attempt.outcome
      if (current === null) lease.rest()
      await follow(outcome, attempt)
    }
  }
  const running = loop()

  return {
    renew(cause) {
      log.info({ cause }, 'a new connection was asked for')
      current?.replace({ why: cause, wanted: true })
      waiting.abort()
    },
    async probe() {
      if (current?.live?.probe === undefined)
        throw new SwitchboardError('platform_unavailable', 'there is no connection')
      return (await isHeard(current.live)) ? 'hears' : 'deaf'
    },
    async stop() {
      stopped = true
      waiting.abort()
      endAll('stopped')
      // A store that does not answer, or a connection that does not end, delays no stop. The lease then runs out.
      await withinTime(clock, endMs, async () => {
        await running
        await Promise.all([...open].map((attempt) => attempt.over))
        if (open.size === 0) await lease.release()
      })
    },
  }
}

function failure(why: string): Outcome {
  return { why, error: new SwitchboardError('platform_unavailable', why) }
}
