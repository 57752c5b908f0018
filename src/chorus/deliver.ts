// The service's end of Chorus for people who want only the protocol: deliver a message to an agent by its connection
// string, and hear what comes back at a callback URL that is good for that delivery alone.
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

/** The option of this library that lets private addresses in. */
export const LIBRARY_OPENER = 'allowPrivate: true'

export interface DeliverOptions {
  readonly allowPrivate?: boolean
  readonly fetch?: GuardedFetch
  /** Time, for tests; default: the timers of the runtime. */
  readonly clock?: Timers
}

/** Posts a delivery. Resolves on 2xx, which says that it was received and no more. Throws a SwitchboardError otherwise. */
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
  /** Where callbacks come in, without a slash at the end: `https://adapter.example.com/cb`. */
  readonly callbackBase: string
  /** In order of receipt, one after the other for each delivery. What it throws is answered 500: the agent may try again. */
  onEvent(event: ChorusEvent, delivery: ChorusDelivery): Promise<void> | void
  /** How long a callback is good; default 24 h. */
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
/** Events of one delivery whose keys are known: far more than an agent would try again. */
const REMEMBERED = 10_000

export function createService(options: ServiceOptions): ChorusService {
  const open = new Map<string, Open>()
  /** When those expired that are answered 410 for another day; nothing else is left of them. */
  const expired = new Map<string, number>()
  const clock = options.clock ?? timers
  const lifeMs = options.callbackLifeMs ?? DAY_MS

  /** All live equally long, so the first of each is the oldest, and one that is not over ends the search. */
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
        // Who refused it for good has no use for the callback; who may have it may call.
        if (!error.nature.retryable && error.code !== 'outcome_unknown') open.delete(hash)
        throw thrown
      }
    },
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
