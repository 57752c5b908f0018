// The events that an agent posts to a callback, in order of receipt. Each turn has one queue, so two simultaneous POSTs
// cannot overtake each other.
//
// The first `message` with text answers the turn. Later ones are sent too. An `error` fails the turn unless a message
// was sent. An agent that sends `lifecycle` ends its turn with `idle`, so its error waits until then.
import { createHash } from 'node:crypto'
import {
  type AgentOutlet,
  createBoundedMap,
  createSerialLines,
  defined,
  type NewTurnEvent,
  TURN_EVENT_CHARS,
} from '../../contract/index.ts'
import { type ChorusEvent, knownEvent, toolText } from '../../kit/index.ts'

export interface CallbackPlace {
  readonly session: string
  readonly turn: string
}

interface Progress {
  seen: boolean
  said: boolean
  processing: boolean
  /** The error to report if the turn ends without a message. */
  trouble: { readonly detail: string; readonly code?: string } | null
}

export interface EventTaker {
  /** Resolves when all of them are stored. `key`: the POST's own idempotency key. */
  take(
    place: CallbackPlace,
    events: readonly Readonly<Record<string, unknown>>[],
    key: string | null,
  ): Promise<void>
}

/** Turns whose progress is remembered. A forgotten one only repeats `seen`. */
const REMEMBERED = 10_000
const TOOL_LINE_CHARS = 300
const ERROR_CHARS = 500
const CODE_CHARS = 100

type ToolEvent = Extract<ChorusEvent, { type: 'tool_call' | 'tool_result' }>

export interface EventTakerOptions {
  /** Tool calls are shown in the chat too. */
  readonly showTools: boolean
  /** Values that are never shown, even if an agent repeats them. */
  readonly secrets: readonly string[]
}

export function createEventTaker(outlet: () => AgentOutlet, options: EventTakerOptions): EventTaker {
  const progress = createBoundedMap<string, Progress>(REMEMBERED)
  const turns = createSerialLines<string>()

  const progressOf = (turn: string): Progress => {
    const known = progress.get(turn) ?? { seen: false, said: false, processing: false, trouble: null }
    progress.set(turn, known)
    return known
  }

  const say = async (place: CallbackPlace, text: string, key: string | null, final: boolean) => {
    const idempotencyKey = key === null ? {} : { idempotencyKey: `chorus:${place.turn}:${digest(key)}` }
    await outlet().accept({ kind: 'say', ...place, text, final, ...idempotencyKey })
  }

  const seen = async (place: CallbackPlace, so: Progress) => {
    if (so.seen) return
    const working = so.processing ? { working: true } : {}
    await outlet().accept({ kind: 'evidence', turn: place.turn, of: 'seen', ...working })
    so.seen = true
  }

  const shown = async (place: CallbackPlace, so: Progress, text: string, call?: true) => {
    await seen(place, so)
    await outlet().accept({ kind: 'status', ...place, text: text.trim(), ...defined({ call }) })
  }

  /** Takes an event without content as a sign of life. */
  const alive = (place: CallbackPlace, so: Progress) => (so.seen ? shown(place, so, '') : seen(place, so))

  const kept = async ({ turn }: CallbackPlace, event: ToolEvent, key: string | null) => {
    const [name, given] = event.type === 'tool_call' ? [event.name, event.args] : [null, event.content]
    const call = typeof event.id === 'string' ? event.id : null
    const text = toolText(given, TURN_EVENT_CHARS, options.secrets)
    await keep({ turn, kind: event.type, call, name, text, key })
  }

  const keep = (event: NewTurnEvent) => outlet().accept({ kind: 'event', event })

  const toolLine = (name: string, args: unknown): string =>
    `🔧 \`${name}${args === undefined ? '' : ` ${toolText(args, TOOL_LINE_CHARS, options.secrets)}`}\``

  const apply = async (place: CallbackPlace, event: ChorusEvent, key: string | null) => {
    const so = progressOf(place.turn)
    switch (event.type) {
      case 'message':
        // An empty message does not answer the turn. If nothing else comes, the sender is told.
        if (event.content.trim() === '') return alive(place, so)
        await say(place, event.content, key, true)
        so.seen = so.said = true
        return
      case 'status':
        return shown(place, so, event.status)
      case 'tool_call':
        await shown(place, so, `🔧 ${event.name}`, true)
        await kept(place, event, key)
        if (options.showTools) await say(place, toolLine(event.name, event.args), key, false)
        return
      case 'tool_result':
        await seen(place, so)
        return kept(place, event, key)
      case 'error':
        return trouble(place, so, event, key)
      case 'lifecycle':
        return lifecycle(place, so, event.status, key)
    }
  }

  const trouble = async (
    place: CallbackPlace,
    so: Progress,
    { message, code }: Extract<ChorusEvent, { type: 'error' }>,
    key: string | null,
  ) => {
    const text = toolText(message, ERROR_CHARS, options.secrets)
    const named = typeof code === 'string' && code !== '' ? { code: code.slice(0, CODE_CHARS) } : {}
    const told = { detail: text, ...named }
    if (so.said) return say(place, `⚠️ ${text}`, key, false)
    // `processing` may have come to another process, before a restart or at another node.
    if (!so.processing && (await fail(place, told, key, { unlessWorking: true })) === 'over') return
    so.processing = true
    so.trouble = told
    await shown(place, so, `⚠️ ${text}`)
    // `idle` may come to another process, after a restart or at another node.
    await keep({ turn: place.turn, kind: 'error', call: null, name: named.code ?? null, text, key })
  }

  const fail = async (
    place: CallbackPlace,
    trouble: NonNullable<Progress['trouble']>,
    key: string | null,
    how: { readonly unlessWorking?: true } = {},
  ): Promise<'over' | 'working'> => {
    const { turn } = place
    const told = { kind: 'failed', turn, reason: 'agent_failed', ...trouble, ...how } as const
    const { late, working } = await outlet().accept(told)
    if (working) return 'working'
    // A message was sent, in an earlier run or on another node. The turn stays answered, and the error is shown.
    if (late) await say(place, `⚠️ ${trouble.detail}`, key, false)
    progress.delete(turn)
    return 'over'
  }

  const lifecycle = async (place: CallbackPlace, so: Progress, status: string, key: string | null) => {
    if (status === 'processing') {
      so.processing = true
      return alive(place, so)
    }
    if (status !== 'idle') return alive(place, so)
    if (so.trouble !== null && !so.said) return void (await fail(place, so.trouble, key))
    // Without a message the person hears that the agent finished. An answered turn stays as it is.
    if (!so.said) await outlet().accept({ kind: 'evidence', turn: place.turn, of: 'answered' })
    progress.delete(place.turn)
  }

  return {
    take: (place, events, key) =>
      turns.run(place.turn, async () => {
        for (const [index, fields] of events.entries()) {
          const event = knownEvent(fields)
          if (event === null) continue
          const own = event.event_id ?? (key === null ? null : `${key}#${index}`)
          await apply(place, event, own)
        }
      }),
  }
}

function digest(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32)
}
