// What a method of the fake Web API is: the scope it asks for, and what it answers. Failures are `{ok: false, error}` with
// status 200, as Slack's are.
import type { FakeChannel, FakeMessage, World } from './world.ts'

export interface Answer {
  readonly ok: boolean
  readonly error?: string
  readonly [field: string]: unknown
}

export interface MethodContext {
  readonly world: World
  readonly params: Readonly<Record<string, unknown>>
  /** Where this server is reached. */
  readonly base: string
  readonly now: () => number
  readonly scopes: ReadonlySet<string>
  /** Which cursors count: those of an earlier number were forgotten. */
  readonly cursors: number
  /** Something happened in a channel: the app is told of it, where it is a member. */
  readonly emit: (channel: FakeChannel, event: Readonly<Record<string, unknown>>) => void
}

export interface Method {
  /** One of them is needed; absent: none. */
  readonly scopes?: readonly string[]
  readonly run: (context: MethodContext) => Answer
}

export function fail(error: string, more: Readonly<Record<string, unknown>> = {}): Answer {
  return { ok: false, error, ...more }
}

export function text(params: MethodContext['params'], key: string): string {
  const value = params[key]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** Booleans come as text in forms. */
export function flag(params: MethodContext['params'], key: string): boolean {
  return params[key] === true || params[key] === 'true' || params[key] === '1'
}

/** A value that is a list or an object, wherever it was written as JSON in a form. */
export function json(params: MethodContext['params'], key: string): unknown {
  const value = params[key]
  if (typeof value !== 'string' || value === '') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** The channel where the bot may write. */
export function writable({ world, params, scopes }: MethodContext): FakeChannel | Answer {
  const given = text(params, 'channel')
  const channel = /^[UW]/.test(given) && world.user(given) ? world.direct(given) : world.channel(given)
  if (!channel) return fail('channel_not_found')
  if (!channel.members.has(world.bot.id)) {
    if (channel.kind !== 'channel') return fail('channel_not_found')
    if (!scopes.has('chat:write.public')) return fail('not_in_channel')
  }
  return channel.archived ? fail('is_archived') : channel
}

/** The channel that the bot may read. */
export function readable({ world, params }: MethodContext): FakeChannel | Answer {
  const channel = world.channel(text(params, 'channel'))
  if (!channel || (channel.kind !== 'channel' && !channel.members.has(world.bot.id)))
    return fail('channel_not_found')
  return channel.members.has(world.bot.id) ? channel : fail('not_in_channel')
}

export function isAnswer(value: FakeChannel | FakeMessage | Answer): value is Answer {
  return 'ok' in value
}

export function channelType(channel: FakeChannel): string {
  return channel.kind
}

/** A page of a list by an opaque cursor. */
export function pageOf<T>(
  list: readonly T[],
  { params, cursors }: Pick<MethodContext, 'params' | 'cursors'>,
  { usual, most }: { readonly usual: number; readonly most: number },
): { readonly items: readonly T[]; readonly next: string } | Answer {
  const limit = Math.min(most, Math.max(1, Number(text(params, 'limit') || usual)))
  const cursor = text(params, 'cursor')
  const from =
    cursor === ''
      ? 0
      : Number(
          new RegExp(`^next${cursors}:(\\d+)$`).exec(Buffer.from(cursor, 'base64').toString('utf8'))?.[1] ??
            Number.NaN,
        )
  if (!Number.isInteger(from)) return fail('invalid_cursor')
  const items = list.slice(from, from + limit)
  const more = from + limit < list.length
  return { items, next: more ? Buffer.from(`next${cursors}:${from + limit}`).toString('base64') : '' }
}
