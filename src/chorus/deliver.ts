// The service's end of Chorus without the gateway: deliver a message to an agent by its connection string, and receive
// its events at a callback URL of that delivery.
import { createHash, randomBytes } from 'node:crypto'
import {
  asSwitchboardError,
  type BoundedMap,
  createBoundedMap,
  createSerial,
  type Serial,
} from '../contract/index.ts'
import {
  type ChorusDelivery,
  type ChorusEvent,
  createGuardedFetch,
  type GuardedFetch,
  knownEvent,
  postChorus,
  readEvents,
} from '../kit/index.ts'
import { createHandlers, type Handlers, problem } from './node-endpoint.ts'
import { type Timers, timers } from './timers.ts'

/** The option of this library that allows private addresses. */
export const LIBRARY_OPENER = 'allowPrivate: true'

export interface DeliverOptions {
  readonly allowPrivate?: boolean
  readonly fetch?: GuardedFetch
  /** Time, for tests. Default: the runtime's timers. */
  readonly clock?: Timers
}

/** Posts a delivery. Resolves on 2xx, which only means that it was received. Throws a SwitchboardError otherwise. */
export async function deliver(
  connectionString: string,
  delivery: ChorusDelivery,
  options: DeliverOptions = {},
): Promise<void> {
  const clock = options.clock ?? timers
  const fetch = options.fetch ?? createGuardedFetch({ clock })
  const to = { url: connectionString, body: delivery, whom: 'the agent' }
  await postChorus(
    {
      ...to,
      allowPrivate: options.allowPrivate ?? false,
      opener: LIBRARY_OPENER,
      idempotencyKey: delivery.message.id,
      now: clock.now(),
    },
    fetch,
  )
}

export interface ServiceOptions extends DeliverOptions {
  /** The public base of callback URLs, without a slash at the end: `https://adapter.example.com/cb`. */
  readonly callbackBase: string
  /**
   * Called in order of receipt, one at a time for each delivery. If it throws, the agent gets 500 and may try again.
   */
  onEvent(event: ChorusEvent, delivery: ChorusDelivery): Promise<void> | void
  /** How long a callback is valid. Default: 24 h. */
  readonly callbackLifeMs?: number
}

export interface ChorusService extends Handlers {
  deliver(connectionString: string, what: Omit<ChorusDelivery, 'callback'>): Promise<void>
}

interface Open {
  readonly delivery: ChorusDelivery
  readonly expiresAt: number
  /** Digests of the keys of events, the newest last. */
  readonly taken: BoundedMap<string, true>
  readonly inOrder: Serial
}

const DAY_MS = 24 * 3_600_000
/** The most keys of one delivery that are remembered. */
const REMEMBERED = 10_000

export function createService(options: ServiceOptions): ChorusService {
  const open = new Map<string, Open>()
  // Expired callbacks are answered with 410 for another day. Only their time is kept.
  const expired = new Map<string, number>()
  const clock = options.clock ?? timers
  const lifeMs = options.callbackLifeMs ?? DAY_MS

  /** All live equally long, so the first one is the oldest, and the first live one ends the search. */
  const forgetOld = (now: number): void => {
    for (const [hash, { expiresAt }] of open) {
      if (expiresAt > now) break
      open.delete(hash)
      expired.set(hash, expiresAt)
    }
    for (const [hash, expiredAt] of expired) {
      if (expiredAt + DAY_MS >= now) break
      expired.delete(hash)
    }
  }

  const handlers = createHandlers(async ({ method, path, headers, body }) => {
    const now = clock.now()
    forgetOld(now)
    const hash = digest(path.split('/').at(-1) ?? '')
    const found = open.get(hash)
    const isOver = found ? found.expiresAt <= now : expired.has(hash)
    if (isOver) return { status: 410, body: problem('this callback has expired') }
    if (!found) return { status: 404, body: problem('there is nothing at this path') }
    if (method !== 'POST') return { status: 405, body: problem('this path takes POST only') }
    const read = readEvents(body)
    if (!read.ok) return { status: 400, body: problem(read.problem) }
    await found.inOrder(async () => {
      for (const [index, fields] of read.events.entries()) {
        const event = knownEvent(fields)
        if (event === null) continue
        const name =
          event.event_id ?? (headers['idempotency-key'] ? `${headers['idempotency-key']}#${index}` : null)
        const key = name === null ? null : digest(name)
        if (key !== null && found.taken.has(key)) continue
        await options.onEvent(event, found.delivery)
        if (key !== null) found.taken.set(key, true)
      }
    })
    return { status: 200, body: { ok: true } }
  })

  return {
    ...handlers,
    async deliver(connectionString, what) {
      const now = clock.now()
      forgetOld(now)
      const token = `tok_${randomBytes(32).toString('base64url')}`
      const hash = digest(token)
      const delivery = { ...what, callback: `${options.callbackBase}/${token}` }
      open.set(hash, {
        delivery,
        expiresAt: now + lifeMs,
        taken: createBoundedMap(REMEMBERED),
        inOrder: createSerial(),
      })
      try {
        await deliver(connectionString, delivery, options)
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        // After a final refusal the callback is not needed. An agent that may have the delivery may call it.
        if (!error.nature.retryable && error.code !== 'outcome_unknown') open.delete(hash)
        throw thrown
      }
    },
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
