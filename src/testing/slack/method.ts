// A method of the fake Web API: the scopes that it needs and its answer. Failures are `{ok: false, error}` with status
// 200, as Slack's are.
import type { FakeChannel, FakeMessage, World } from './world.ts'

export interface Answer {
  readonly ok: boolean
  readonly error?: string
  readonly [field: string]: unknown
}

export interface MethodContext {
  readonly world: World
  readonly params: Readonly<Record<string, unknown>>
  /** The base URL of this server. */
  readonly base: string
  readonly now: () => number
  readonly scopes: ReadonlySet<string>
  /** The generation of valid cursors. Cursors of an earlier generation are invalid. */
  readonly cursors: number
  /** Sends an event of a channel to the app if the bot is a member. */
  readonly emit: (channel: FakeChannel, event: Readonly<Record<string, unknown>>) => void
}

export interface Method {
  /** The method needs one of these scopes. If absent, it needs none. */
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

/** Reads a boolean. Forms carry it as text. */
export function flag(params: MethodContext['params'], key: string): boolean {
  return params[key] === true || params[key] === 'true' || params[key] === '1'
}

/** Reads a list or an object. Forms carry it as JSON text. */
export function json(params: MethodContext['params'], key: string): unknown {
  const value = params[key]
  if (typeof value !== 'string' || value === '') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

/** Returns the channel if the bot may write there, or the refusal. */
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

/** Returns the channel if the bot may read it, or the refusal. */
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

/** Returns one page of a list, by an opaque cursor. */
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
