// What bodies may cost one listener: bytes in flight, and the patience with slow ones. Nothing is set up per request but
// an entry in a set; one timer runs while there is something to watch.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cancel, Clock } from '../contract/index.ts'
import type { ServerLimits } from './deps.ts'
import { type BodyProblem, hasBody, readBody } from './read-body.ts'
import { sourceOf } from './source-of.ts'

export interface BodyRead {
  readonly maxBytes: number
  /** The head has proven who asks. Everybody else shares half of the budget, so that they cannot take the whole. */
  readonly proven: boolean
  /** Its source speaks for many (a proxy, this machine). Any other has a quarter of what those who proved nothing share. */
  readonly shared: boolean
}

export interface BodyBudget {
  /** Calls back once: with the body, with what is wrong with it, or (the peer went away) never. */
  read(
    request: IncomingMessage,
    response: ServerResponse,
    how: BodyRead,
    done: (body: Buffer | BodyProblem) => void,
  ): void
  /** Bytes that are kept now. */
  readonly held: number
  /** The end of the daemon is near: what is on its way gets a moment, and nobody holds the end up with a body that never ends. */
  drain(): void
  stop(): void
}

interface Reading {
  size: number
  looks: number
  end: (problem: BodyProblem) => void
}

/** However large one body may be, some fit beside each other. */
const BODIES_AT_LEAST = 4
/** What is left of a body may take this long when the daemon ends. */
const DRAIN_MS = 1_000

export function createBodyBudget(limits: ServerLimits, clock: Pick<Clock, 'after'>): BodyBudget {
  const reading = new Set<Reading>()
  /** Bytes of those who proved nothing, by source; as many entries as bodies at most. */
  const unproven = new Map<string, number>()
  let held = 0
  let cancel: Cancel | null = null
  let cancelDrain: Cancel = ignore

  /** Counted in looks, not by the clock: a clock that is set forward ends nobody's body. */
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
