// The agent's end of Chorus without the gateway: a handler that takes deliveries, answers 200, and runs `onMessage`
// with a voice. Deliveries of one channel run in order; channels are independent. Deliveries are only in memory. To
// survive a crash, run Switchboard itself.
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import {
  asSwitchboardError,
  createBoundedMap,
  createSerial,
  createSerialLines,
  defined,
  SwitchboardError,
} from '../contract/index.ts'
import {
  type ChorusDelivery,
  type ChorusEvent,
  type ChorusMcpServer,
  createGuardedFetch,
  type GuardedFetch,
  jsonValues,
  mcpServers,
  postChorus,
  readDelivery,
} from '../kit/index.ts'
import { closeAll, connectMcp, type McpConnection } from './connect-mcp.ts'
import { LIBRARY_OPENER } from './deliver.ts'
import { createHandlers, type Handlers, type PlainReply, problem } from './node-endpoint.ts'
import { pause, type Timers, timers } from './timers.ts'

export interface AgentOptions {
  /** Handles a message. When it throws, the channel gets an error. `idle` comes last in any case. */
  onMessage(message: ChorusDelivery['message'], voice: Voice): Promise<void> | void
  /** The last part of the connection string: `…/inbox/SECRET`. Absent: every path is accepted, and you protect it. */
  readonly secret?: string
  /** Allows callbacks and tool servers on loopback and private networks. */
  readonly allowPrivate?: boolean
  /** Called when output could not be delivered. The error names no URL. */
  readonly onLost?: (event: ChorusEvent, error: Error) => void
  readonly fetch?: GuardedFetch
  /** Time, for tests. Default: the runtime's timers. */
  readonly clock?: Timers
}

/** Sends into the channel of the message, in order and with retries. Resolves when the service took it. */
export interface Voice {
  readonly channel: ChorusDelivery['channel']
  readonly mcpServers: readonly ChorusMcpServer[]
  say(content: string): Promise<void>
  status(text: string): Promise<void>
  toolCall(name: string, args?: unknown): Promise<string>
  toolResult(id: string, content: string): Promise<void>
  error(message: string, code?: string): Promise<void>
  /** Returns the service's tools: one connected client per server, closed when `onMessage` ends. */
  mcp(): Promise<readonly McpConnection[]>
}

export interface ChorusAgent extends Handlers {
  /** Resolves when everything taken so far is done. */
  settled(): Promise<void>
}

const REMEMBERED = 10_000
const RETRY_MS = [250, 1_000, 4_000, 15_000]

/** Throws `config_invalid` for a secret that no path can end with. */
export function createAgent(options: AgentOptions): ChorusAgent {
  if ('secret' in options && !isSegment(options.secret)) {
    throw new SwitchboardError('config_invalid', 'the secret must be one segment of a path, and not empty', {
      hint: 'letters, digits, - and _; leave the option out to guard the path yourself',
    })
  }
  const clock = options.clock ?? timers
  const fetch = options.fetch ?? createGuardedFetch({ clock })
  const allowPrivate = options.allowPrivate ?? false
  const seen = createBoundedMap<string, true>(REMEMBERED)
  const channels = createSerialLines<string>()

  const post = async (delivery: ChorusDelivery, event: ChorusEvent): Promise<void> => {
    const event_id = event.event_id ?? randomUUID()
    const to = {
      url: delivery.callback,
      body: { ...event, event_id },
      whom: 'the callback',
      allowPrivate,
      opener: LIBRARY_OPENER,
    }
    for (let attempt = 0; ; attempt++) {
      try {
        return await postChorus({ ...to, idempotencyKey: event_id, now: clock.now() }, fetch)
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        const again = error.nature.retryable || error.code === 'outcome_unknown'
        const pauseMs = RETRY_MS[attempt]
        if (!again || pauseMs === undefined) {
          options.onLost?.(event, error)
          throw error
        }
        // The service can only lengthen the delay. Otherwise all tries could happen at once.
        await pause(Math.max(error.retryAfterMs ?? 0, pauseMs), clock)
      }
    }
  }

  const work = async (delivery: ChorusDelivery): Promise<void> => {
    // Serial, so that calls that are not awaited keep their order.
    const inOrder = createSerial()
    const send = (event: ChorusEvent): Promise<void> => inOrder(() => post(delivery, event))
    const tools: { opened: Promise<readonly McpConnection[]> | null } = { opened: null }
    const voice: Voice = {
      channel: delivery.channel,
      mcpServers: mcpServers(delivery.mcp),
      say: (content) => send({ type: 'message', content }),
      status: (text) => send({ type: 'status', status: text }),
      toolCall(name, args = {}) {
        const id = `tc_${randomUUID()}`
        const sent = send({ type: 'tool_call', name, args, id }).then(() => id)
        sent.catch(() => undefined) // Whoever does not wait for it is not ended by it.
        return sent
      },
      toolResult: (id, content) => send({ type: 'tool_result', id, content }),
      error: (message, code) => send({ type: 'error', message, ...defined({ code }) }),
      mcp() {
        tools.opened ??= connectMcp(voice.mcpServers, { fetch, allowPrivate }).catch((thrown: unknown) => {
          tools.opened = null // The next call tries again.
          throw thrown
        })
        return tools.opened
      },
    }
    const begun = send({ type: 'lifecycle', status: 'processing' })
    begun.catch(() => undefined)
    try {
      await options.onMessage(delivery.message, voice)
    } catch (thrown) {
      await voice.error(thrown instanceof Error ? thrown.message : String(thrown)).catch(() => undefined)
    } finally {
      const idle = send({ type: 'lifecycle', status: 'idle' }).catch(() => undefined)
      await tools.opened?.then(closeAll, () => undefined)
      await idle
    }
  }

  /** Returns what to wait for; for a repeated delivery, its channel. */
  const take = (delivery: ChorusDelivery): Promise<void> => {
    const key = JSON.stringify([delivery.channel.id, delivery.message.id])
    const { id } = delivery.channel
    if (seen.has(key)) return channels.run(id, () => undefined)
    seen.set(key, true)
    return channels.run(id, () => work(delivery))
  }

  const handlers = createHandlers(async ({ method, path, body }): Promise<PlainReply> => {
    if (options.secret !== undefined && !sameSecret(path.split('/').at(-1) ?? '', options.secret)) {
      return { status: 404, body: problem('there is nothing at this path') }
    }
    if (method !== 'POST') return { status: 405, body: problem('this path takes POST only') }
    const values = jsonValues(body)
    if (values === null || values.length === 0) return { status: 400, body: problem('the body is not JSON') }
    const read = values.map((value) => readDelivery(value))
    const problems = read.flatMap((one) => (one.ok ? [] : one.problems))
    if (problems.length > 0) return { status: 400, body: problem(problems.join('; ')) }
    const goesOn = Promise.all(read.map((one) => (one.ok ? take(one.delivery) : undefined)))
    return { status: 200, body: { ok: true }, goesOn }
  })

  return {
    ...handlers,
    async settled() {
      await channels.idle()
    },
  }
}

/** Whether it appears unchanged in a path. Otherwise a URL would encode it, or read it differently. */
function isSegment(secret: unknown): boolean {
  if (typeof secret !== 'string' || secret === '' || secret.includes('/')) return false
  return new URL(`https://agent.example.com/${secret}`).pathname === `/${secret}`
}

function sameSecret(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
