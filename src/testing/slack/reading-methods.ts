// The reading methods of the fake Web API: the bot's identity, channels, people and messages.
import {
  type Answer,
  fail,
  flag,
  isAnswer,
  type Method,
  type MethodContext,
  pageOf,
  readable,
  text,
} from './method.ts'
import { channelFacts, type FakeChannel, type FakeMessage } from './world.ts'

const HISTORY = ['channels:history', 'groups:history', 'im:history', 'mpim:history']
const READ = ['channels:read', 'groups:read', 'im:read', 'mpim:read']
const KIND_NAMES = { channel: 'public_channel', group: 'private_channel', im: 'im', mpim: 'mpim' } as const
const KIND_SCOPES = { channel: 'channels', group: 'groups', im: 'im', mpim: 'mpim' } as const

export const READING_METHODS: Readonly<Record<string, Method>> = {
  'api.test': { run: ({ params }) => ({ ok: true, args: params }) },
  'auth.test': {
    run: ({ world, base }) => ({
      ok: true,
      url: `${base}/`,
      team: world.team.name,
      user: world.bot.name,
      team_id: world.team.id,
      user_id: world.bot.id,
      bot_id: world.bot.bot_id,
      is_enterprise_install: false,
    }),
  },
  'conversations.history': { scopes: HISTORY, run: history },
  'conversations.replies': { scopes: HISTORY, run: replies },
  'conversations.info': {
    scopes: READ,
    run: (context) => {
      const channel = context.world.channel(text(context.params, 'channel'))
      return channel ? { ok: true, channel: channelFacts(channel) } : fail('channel_not_found')
    },
  },
  'conversations.open': { scopes: ['im:write', 'mpim:write'], run: open },
  'conversations.join': {
    scopes: ['channels:join'],
    run: ({ world, params }) => {
      const channel = world.channel(text(params, 'channel'))
      if (channel?.kind !== 'channel') return fail('channel_not_found')
      channel.members.add(world.bot.id)
      return { ok: true, channel: channelFacts(channel) }
    },
  },
  'conversations.members': {
    scopes: READ,
    run: (context) => {
      const channel = readable(context)
      if (isAnswer(channel)) return channel
      const page = pageOf([...channel.members], context, { usual: 100, most: 1000 })
      if ('ok' in page) return page
      return { ok: true, members: page.items, response_metadata: { next_cursor: page.next } }
    },
  },
  'conversations.list': { scopes: READ, run: (context) => list(context, false) },
  'users.conversations': { scopes: READ, run: (context) => list(context, true) },
  'users.info': {
    scopes: ['users:read'],
    run: ({ world, params }) => {
      const user = world.user(text(params, 'user'))
      if (!user) return fail('user_not_found')
      if (user.hidden) return fail('user_not_visible')
      const { id, name, real_name, is_bot, team_id } = user
      const profile = { real_name, display_name: name, team: team_id }
      return { ok: true, user: { id, name, real_name, is_bot, team_id, deleted: false, profile } }
    },
  },
}

function open({ world, params }: MethodContext): Answer {
  const given = text(params, 'channel')
  const known = given === '' ? undefined : world.channel(given)
  if (given !== '') return known ? { ok: true, channel: { id: known.id } } : fail('channel_not_found')
  const users = text(params, 'users').split(',').filter(Boolean)
  if (users.length === 0) return fail('users_list_not_supplied')
  if (users.some((user) => !world.user(user))) return fail('user_not_found')
  const [only = '', ...others] = users
  if (others.length === 0) {
    const channel = world.direct(only)
    return {
      ok: true,
      no_op: true,
      already_open: true,
      channel: flag(params, 'return_im') ? channelFacts(channel) : { id: channel.id },
    }
  }
  const id = `G${users.map((user) => user.slice(-2)).join('')}`
  const channel = world.addChannel({ id, kind: 'mpim' }, [world.bot.id, ...users])
  return { ok: true, channel: { id: channel.id } }
}

function list(context: MethodContext, mine: boolean): Answer {
  const { world, params, scopes } = context
  const wanted = (text(params, 'types') || 'public_channel').split(',').map((type) => type.trim())
  const kinds = (Object.keys(KIND_NAMES) as (keyof typeof KIND_NAMES)[]).filter((kind) =>
    wanted.includes(KIND_NAMES[kind]),
  )
  const lacking = kinds.map((kind) => `${KIND_SCOPES[kind]}:read`).find((scope) => !scopes.has(scope))
  if (lacking !== undefined)
    return fail('missing_scope', { needed: lacking, provided: [...scopes].join(',') })
  const shown = world
    .channels()
    .filter(({ kind }) => kinds.includes(kind))
    .filter(({ archived }) => !archived || !flag(params, 'exclude_archived'))
    .filter(({ members, kind }) => members.has(world.bot.id) || (!mine && kind === 'channel'))
  const page = pageOf(shown, context, { usual: 100, most: 1000 })
  if ('ok' in page) return page
  return { ok: true, channels: page.items.map(channelFacts), response_metadata: { next_cursor: page.next } }
}

function history(context: MethodContext): Answer {
  const channel = readable(context)
  if (isAnswer(channel)) return channel
  const inChannel = context.world
    .messages(channel.id)
    .filter(
      ({ thread_ts, ts, subtype }) =>
        thread_ts === undefined || thread_ts === ts || subtype === 'thread_broadcast',
    )
  return messagesPage(context, channel, inChannel.toReversed(), { usual: 100, most: 999 })
}

function replies(context: MethodContext): Answer {
  const channel = readable(context)
  if (isAnswer(channel)) return channel
  const named = context.world.find(channel.id, text(context.params, 'ts'))
  if (!named) return fail('thread_not_found')
  const root = named.thread_ts ?? named.ts
  const all = context.world.messages(channel.id)
  const first = all.filter(({ ts }) => ts === root)
  const under = all.filter(({ thread_ts, ts }) => thread_ts === root && ts !== root)
  const page = messagesPage(context, channel, under, { usual: 1000, most: 1000 })
  // Every page begins with the first message of the thread, whatever the cursor.
  return page.ok
    ? { ...page, messages: [...first.map((one) => shown(context, one)), ...(page.messages as object[])] }
    : page
}

function messagesPage(
  context: MethodContext,
  channel: FakeChannel,
  messages: readonly FakeMessage[],
  limits: { readonly usual: number; readonly most: number },
): Answer {
  const { params, scopes } = context
  const needed = `${KIND_SCOPES[channel.kind]}:history`
  if (!scopes.has(needed)) return fail('missing_scope', { needed, provided: [...scopes].join(',') })
  const oldest = bound(text(params, 'oldest'))
  const latest = bound(text(params, 'latest'))
  if (oldest === null) return fail('invalid_ts_oldest')
  if (latest === null) return fail('invalid_ts_latest')
  const also = flag(params, 'inclusive')
  const within = messages.filter(({ ts }) => {
    const micros = microsOf(ts)
    const after = oldest === undefined || micros > oldest || (also && micros === oldest)
    const before = latest === undefined || micros < latest || (also && micros === latest)
    return after && before
  })
  const page = pageOf(within, context, limits)
  if ('ok' in page) return page
  return {
    ok: true,
    messages: page.items.map((message) => shown(context, message)),
    has_more: page.next !== '',
    response_metadata: { next_cursor: page.next },
  }
}

/** A message with its metadata only if the request asks for it. */
function shown({ params }: MethodContext, message: FakeMessage): object {
  const { metadata, ...rest } = structuredClone(message)
  if (metadata === undefined) return rest
  return flag(params, 'include_all_metadata')
    ? { ...rest, metadata }
    : { ...rest, metadata: { event_type: metadata.event_type } }
}

function bound(ts: string): bigint | null | undefined {
  if (ts === '' || ts === '0') return undefined
  return /^\d{1,12}(\.\d{1,6})?$/.test(ts) ? microsOf(ts) : null
}

function microsOf(ts: string): bigint {
  const [seconds = '0', fraction = ''] = ts.split('.')
  return BigInt(seconds) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}
