// The base of the routes in the fake REST API: a context, an answer, and refusals in Discord's form.
import type { UploadedFile } from '../request-body.ts'
import type { Scope } from './intents.ts'
import type { FakeChannel, World } from './world.ts'

export interface Answer {
  readonly status: number
  readonly body?: unknown
}

export interface RouteContext {
  readonly world: World
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly body: Readonly<Record<string, unknown>>
  readonly files: readonly UploadedFile[]
  readonly now: () => number
  readonly base: string
  /** Sends an event to every session that may receive it. */
  readonly emit: (channel: FakeChannel | null, type: string, data: Readonly<Record<string, unknown>>) => void
  readonly nonces: Map<string, { readonly id: string; readonly channel: string; readonly until: number }>
  readonly interactions: Map<string, OpenInteraction>
  readonly contentIntent: boolean
  readonly scope: (channel: FakeChannel) => Scope
  readonly gateway: {
    readonly url: string
    readonly shards: number
    readonly startsLeft: number
    readonly token: string
  }
  /** How long an interaction waits for its first answer. */
  readonly deadlineMs: number
}

export interface OpenInteraction {
  readonly id: string
  readonly token: string
  readonly channel: string
  readonly user: string
  readonly at: number
  /** The id of the message that holds the component. */
  readonly message?: string
  answered: number | null
  ephemeral: boolean
  /** The id of the message that answers it. Null until there is an answer that everybody sees. */
  original: string | null
  modal?: unknown
}

export type Route = (context: RouteContext) => Answer

export const ok = (body: unknown, status = 200): Answer => ({ status, body })
export const done: Answer = { status: 204 }

const MESSAGES: Readonly<Record<number, string>> = {
  0: '404: Not Found',
  10003: 'Unknown Channel',
  10004: 'Unknown Guild',
  10007: 'Unknown Member',
  10008: 'Unknown Message',
  10013: 'Unknown User',
  10014: 'Unknown Emoji',
  10015: 'Unknown Webhook',
  10062: 'Unknown interaction',
  40005: 'Request entity too large',
  40060: 'Interaction has already been acknowledged.',
  50001: 'Missing Access',
  50005: 'Cannot edit a message authored by another user',
  50006: 'Cannot send an empty message',
  50007: 'Cannot send messages to this user',
  50008: 'Cannot send messages in a non-text channel',
  50013: 'Missing Permissions',
  50027: 'Invalid Webhook Token',
  50033: 'Invalid Recipient(s)',
  50035: 'Invalid Form Body',
  50083: 'Thread is archived',
  160002: 'Cannot reply without permission to read message history',
  160004: 'A thread has already been created for this message',
  160005: 'Thread is locked',
}

export function refuse(status: number, code: number): Answer {
  return { status, body: { message: MESSAGES[code] ?? 'Refused', code } }
}

/** A refusal because one field of the form is wrong. `path` gives the keys to the field. */
export function badForm(path: readonly string[], code: string, message: string): Answer {
  let errors: unknown = { _errors: [{ code, message }] }
  for (const key of path.toReversed()) errors = { [key]: errors }
  return { status: 400, body: { message: 'Invalid Form Body', code: 50035, errors } }
}

export const RIGHTS = {
  react: 1n << 6n,
  view: 1n << 10n,
  send: 1n << 11n,
  attach: 1n << 15n,
  history: 1n << 16n,
  threads: 1n << 35n,
  sendInThreads: 1n << 38n,
} as const

/** Returns the channel of the path if the bot may see it, or the refusal. */
export function channelIn({ world, path }: RouteContext): FakeChannel | Answer {
  const channel = world.channel(path[1] ?? '')
  if (channel === undefined) return refuse(404, 10003)
  return (world.rights(channel) & RIGHTS.view) === 0n ? refuse(403, 50001) : channel
}

export function isAnswer(value: object): value is Answer {
  return 'status' in value
}
