// Limits what request bodies may cost one listener: bytes in memory, and time for slow senders. A request costs one
// entry in a set. One timer runs while bodies arrive.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cancel, Clock } from '../contract/index.ts'
import type { ServerLimits } from './deps.ts'
import { type BodyProblem, hasBody, readBody } from './read-body.ts'
import { sourceOf } from './source-of.ts'

export interface BodyRead {
  readonly maxBytes: number
  /** The head proved who asks. All others share half of the budget, so they cannot take the whole. */
  readonly proven: boolean
  /** Its source stands for many clients (a proxy, this machine). Any other source has a quarter of the shared half. */
  readonly shared: boolean
}

export interface BodyBudget {
  /** Calls back once, with the body or its error. If the peer leaves, it never calls back. */
  read(
    request: IncomingMessage,
    response: ServerResponse,
    how: BodyRead,
    done: (body: Buffer | BodyProblem) => void,
  ): void
  /** Bytes that are in memory now. */
  readonly held: number
  /**
   * The daemon is about to end. Bodies on their way get a short time, so that an endless one does not delay the end.
   */
  drain(): void
  stop(): void
}

interface Reading {
  size: number
  looks: number
  end: (problem: BodyProblem) => void
}

/** A multiple of the largest body, so that several fit at the same time. */
const BODIES_AT_LEAST = 4
/** When the daemon ends, the rest of a body may take this long. */
const DRAIN_MS = 1_000

export function createBodyBudget(limits: ServerLimits, clock: Pick<Clock, 'after'>): BodyBudget {
  const reading = new Set<Reading>()
  /** Bytes of requests without proof, by source. It has at most one entry for each body. */
  const unproven = new Map<string, number>()
  let held = 0
  let cancel: Cancel | null = null
  let cancelDrain: Cancel = ignore

  /** Counted in runs of the timer. A clock that is set forward therefore ends no body. */
  const look = () => {
    cancel = null
    for (const one of reading) {
      one.looks += 1
      const late = one.looks * limits.paceCheckMs - limits.paceGraceMs
      if (late >= 0 && one.size <= (late / 1000) * limits.paceBytesPerSecond) one.end('too slow')
    }
    if (reading.size > 0) cancel = clock.after(limits.paceCheckMs, look)
  }

  return {
    read(request, response, { maxBytes, proven, shared }, done) {
      // The peer left while its credential was looked up.
      if (response.destroyed) return
      const most = Math.max(limits.bodiesBytes, BODIES_AT_LEAST * maxBytes) / (proven ? 1 : 2)
      const source = proven || shared ? null : sourceOf(request.socket.remoteAddress)
      const share = Math.max(maxBytes, most / 4)
      const count = (bytes: number) => {
        held += bytes
        entry.size += bytes
        if (source === null) return
        const now = (unproven.get(source) ?? 0) + bytes
        if (now > 0) unproven.set(source, now)
        else unproven.delete(source)
      }
      const giveBack = () => count(-entry.size)
      const finish = (body: Buffer | BodyProblem) => {
        reading.delete(entry)
        if (typeof body === 'string') giveBack()
        done(body)
      }
      const keep = (bytes: number) => {
        const own = source === null ? 0 : (unproven.get(source) ?? 0)
        if (held + bytes > most || (source !== null && own + bytes > share)) return false
        count(bytes)
        return true
      }
      const entry: Reading = { size: 0, looks: 0, end: ignore }
      const stop = readBody(request, maxBytes, finish, keep)
      if (stop === null || !hasBody(request)) return
      entry.end = (problem) => {
        stop()
        finish(problem)
      }
      reading.add(entry)
      response.once('close', () => {
        reading.delete(entry)
        giveBack()
      })
      cancel ??= clock.after(limits.paceCheckMs, look)
    },
    get held() {
      return held
    },
    drain() {
      cancelDrain = clock.after(DRAIN_MS, () => {
        for (const one of [...reading]) one.end('draining')
      })
    },
    stop() {
      cancelDrain()
      cancel?.()
      cancel = null
    },
  }
}

function ignore(): void {}
