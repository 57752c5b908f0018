// The service's end of Chorus for people who want only the protocol: deliver a message to an agent by its connection
// string, and hear what comes back at a callback URL that is good for that delivery alone.
import { createHash, randomBytes } from 'node:crypto'
import {
  type ChorusDelivery,
  type ChorusEvent,
  createGuardedFetch,
  type GuardedFetch,
  knownEvent,
  postChorus,
  readEvents,
} from '../kit/index.ts'
import { createHandlers, type Handlers, problem } from './node-door.ts'
import { type Timers, timers } from './timers.ts'

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
  readonly taken: Set<string>
  line: Promise<void>
}

const DAY_MS = 24 * 3_600_000

export function createService(options: ServiceOptions): ChorusService {
  const open = new Map<string, Open>()
  const clock = options.clock ?? timers
  const lifeMs = options.callbackLifeMs ?? DAY_MS

  const handlers = createHandlers(async ({ method, path, headers, body }) => {
    const found = open.get(digest(path.split('/').at(-1) ?? ''))
    if (!found) return { status: 404, body: problem('there is nothing at this path') }
    if (found.expiresAt <= clock.now()) return { status: 410, body: problem('this callback has expired') }
    if (method !== 'POST') return { status: 405, body: problem('this path takes POST only') }
    const read = readEvents(body)
    if (!read.ok) return { status: 400, body: problem(read.problem) }
    const work = found.line.then(async () => {
      for (const [index, fields] of read.events.entries()) {
        const event = knownEvent(fields)
        if (event === null) continue
        const key =
          event.event_id ?? (headers['idempotency-key'] ? `${headers['idempotency-key']}#${index}` : null)
        if (key !== null && found.taken.has(key)) continue
        await options.onEvent(event, found.delivery)
        if (key !== null) found.taken.add(key)
      }
    })
    found.line = work.catch(() => undefined)
    await work
    return { status: 200, body: { ok: true } }
  })

  return {
    ...handlers,
    async deliver(connectionString, what) {
      const now = clock.now()
      for (const [hash, one] of open) if (one.expiresAt + DAY_MS < now) open.delete(hash)
      const token = `tok_${randomBytes(32).toString('base64url')}`
      const delivery = { ...what, callback: `${options.callbackBase}/${token}` }
      open.set(digest(token), {
        delivery,
        expiresAt: now + lifeMs,
        taken: new Set(),
        line: Promise.resolve(),
      })
      await deliver(connectionString, delivery, options)
    },
  }
}

function digest(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
