// Message routes of the fake REST API: create, read, edit, delete, react.
import { defined } from '../../contract/index.ts'
import { blankedMessage } from './intents.ts'
import { messageProblem } from './message-check.ts'
import {
  type Answer,
  badForm,
  channelIn,
  done,
  isAnswer,
  ok,
  RIGHTS,
  type Route,
  type RouteContext,
  refuse,
} from './route.ts'
import { type FakeChannel, type FakeMessage, isThreadChannel, type World } from './world.ts'

const NONCE_MS = 5 * 60_000
const MIB = 1_048_576
const TIER_BYTES = [20 * MIB, 20 * MIB, 50 * MIB, 100 * MIB]

const getMessages: Route = (context) => {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  const { world, query } = context
  const limit = Number(query.get('limit') ?? 50)
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    return badForm(['limit'], 'NUMBER_TYPE_MAX', 'int value should be less than or equal to 100.')
  // Discord answers with an empty list here, not with an error.
  if ((world.rights(channel) & RIGHTS.history) === 0n) return ok([])
  const all = world.messages(channel.id)
  const [before, after, around] = ['before', 'after', 'around'].map((name) => query.get(name))
  const older = (id: string, than: string) => BigInt(id) < BigInt(than)
  let found: readonly FakeMessage[]
  if (before) found = all.filter(({ id }) => older(id, before)).slice(-limit)
  else if (after) found = all.filter(({ id }) => older(after, id)).slice(0, limit)
  else if (around) {
    const at = all.findIndex(({ id }) => !older(id, around))
    found = all.slice(Math.max(0, at - Math.floor(limit / 2))).slice(0, limit)
  } else found = all.slice(-limit)
  return ok(found.toReversed().map((message) => shown(message, context, channel)))
}

/** The message as REST shows it: without the fields that the gateway adds, and without the nonce. */
function shown(message: FakeMessage, { contentIntent, world }: RouteContext, channel: FakeChannel) {
  const { nonce: _, member: __, guild_id: ___, reactions, ...rest } = message
  const told = { ...rest, ...reactionFacts(reactions) }
  return contentIntent || channel.type === 1 ? told : blankedMessage(told, world.bot.id)
}

function reactionFacts(reactions: FakeMessage['reactions']) {
  if (reactions === undefined || reactions.length === 0) return {}
  return {
    reactions: reactions.map(({ emoji, users }) => ({
      count: users.length,
      me: false,
      emoji: { id: null, name: emoji },
    })),
  }
}

const getMessage: Route = (context) => {
  const found = messageIn(context)
  return isAnswer(found) ? found : ok(shown(found.message, context, found.channel))
}

function messageIn(context: RouteContext): { channel: FakeChannel; message: FakeMessage } | Answer {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  const message = context.world.find(channel.id, context.path[3] ?? '')
  return message === undefined ? refuse(404, 10008) : { channel, message }
}

const createMessage: Route = (context) => {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  return writeMessage(context, channel)
}

/** Writes a message of the bot into a channel that it sees. */
export function writeMessage(
  context: RouteContext,
  channel: FakeChannel,
  given: { readonly id?: string } = {},
): Answer {
  const { world, body, files } = context
  const problem = placeProblem(context, channel) ?? messageProblem(body, files.length)
  if (problem !== null) return problem
  const nonce = body.nonce === undefined ? null : String(body.nonce)
  const earlier = nonce === null || body.enforce_nonce !== true ? undefined : context.nonces.get(nonce)
  if (earlier !== undefined && earlier.until > context.now()) {
    const before = world.find(earlier.channel, earlier.id)
    return before === undefined ? refuse(404, 10008) : ok(before)
  }
  const reply = replyOf(context, channel)
  if (isAnswer(reply)) return reply
  const message = putMessage(context, channel, { ...reply, ...given })
  if (nonce !== null)
    context.nonces.set(nonce, { id: message.id, channel: channel.id, until: context.now() + NONCE_MS })
  return ok(message)
}

function placeProblem({ world, files }: RouteContext, channel: FakeChannel): Answer | null {
  if (channel.type === 15 || channel.type === 16 || channel.type === 4) return refuse(400, 50008)
  if (channel.type === 1 && world.closed.has(channel.recipient ?? '')) return refuse(403, 50007)
  const rights = world.rights(channel)
  const needed = isThreadChannel(channel) ? RIGHTS.sendInThreads : RIGHTS.send
  if ((rights & needed) === 0n) return refuse(403, 50013)
  if (files.length > 0 && (rights & RIGHTS.attach) === 0n) return refuse(403, 50013)
  const most = TIER_BYTES[channel.type === 1 ? 0 : world.guild.premium_tier] ?? 20 * MIB
  if (files.some(({ bytes }) => bytes.length > most)) return refuse(413, 40005)
  if (channel.thread_metadata?.locked) return refuse(400, 160005)
  if (channel.thread_metadata) channel.thread_metadata.archived = false
  return null
}

function replyOf({ world, body }: RouteContext, channel: FakeChannel): Record<string, unknown> | Answer {
  const reference = body.message_reference as
    | { message_id?: unknown; fail_if_not_exists?: unknown }
    | undefined
  if (reference === undefined) return {}
  if ((world.rights(channel) & RIGHTS.history) === 0n) return refuse(400, 160002)
  const found = world.find(channel.id, String(reference.message_id))
  if (found === undefined)
    return reference.fail_if_not_exists === false
      ? {}
      : badForm(['message_reference'], 'REPLIES_UNKNOWN_MESSAGE', 'Unknown message')
  return {
    type: 19,
    message_reference: {
      type: 0,
      channel_id: channel.id,
      message_id: found.id,
      ...defined({ guild_id: channel.guild_id }),
    },
    referenced_message: { ...found, referenced_message: undefined },
  }
}

function putMessage(context: RouteContext, channel: FakeChannel, more: Record<string, unknown>): FakeMessage {
  const { world, body, files } = context
  const attachments = files.map((file) => keepFile(world, context.base, channel.id, file))
  const message = world.put(channel.id, {
    author: world.bot,
    content: String(body.content ?? ''),
    ...more,
    attachments,
    ...(Array.isArray(body.embeds)
      ? { embeds: body.embeds.map((one: object) => ({ type: 'rich', ...one })) }
      : {}),
    ...(Array.isArray(body.components) ? { components: body.components } : {}),
    ...defined({ nonce: body.nonce, flags: body.flags }),
  })
  world.pinged.push(...pingedBy(body))
  context.emit(channel, 'MESSAGE_CREATE', message)
  return message
}

/** The people that a message of the bot pings. The list is empty if the message allows no mentions. */
function pingedBy(body: Readonly<Record<string, unknown>>): readonly string[] {
  const allowed = body.allowed_mentions as { readonly parse?: unknown } | undefined
  if (Array.isArray(allowed?.parse) && allowed.parse.length === 0) return []
  return [...String(body.content ?? '').matchAll(/@everyone|@here|<@[!&]?\d+>/g)].map(([one]) => one)
}

export function keepFile(
  world: World,
  base: string,
  channel: string,
  file: { readonly name: string; readonly mime: string; readonly bytes: Buffer },
): Record<string, unknown> {
  const id = world.nextId()
  world.files.set(id, file)
  const url = `${base}/attachments/${channel}/${id}/${encodeURIComponent(file.name)}?ex=70000000&is=60000000&hm=00`
  return { id, filename: file.name, size: file.bytes.length, content_type: file.mime, url, proxy_url: url }
}

const editMessage: Route = (context) => {
  const found = messageIn(context)
  if (isAnswer(found)) return found
  const { channel, message } = found
  const { world, body } = context
  if (message.author.id !== world.bot.id) return refuse(403, 50005)
  if (channel.thread_metadata?.archived) return refuse(400, 50083)
  const after = { content: message.content, embeds: message.embeds, components: message.components, ...body }
  const problem = messageProblem(after, message.attachments.length)
  if (problem !== null) return problem
  if (typeof body.content === 'string') message.content = body.content
  if (Array.isArray(body.components)) message.components = body.components
  if (Array.isArray(body.embeds)) message.embeds = body.embeds
  world.pinged.push(...pingedBy(body))
  message.edited_timestamp = new Date(context.now()).toISOString()
  context.emit(channel, 'MESSAGE_UPDATE', message)
  return ok(message)
}

const deleteMessage: Route = (context) => {
  const found = messageIn(context)
  if (isAnswer(found)) return found
  const { channel, message } = found
  if (message.author.id !== context.world.bot.id) return refuse(403, 50013)
  context.world.remove(channel.id, message.id)
  context.emit(channel, 'MESSAGE_DELETE', {
    id: message.id,
    channel_id: channel.id,
    ...defined({ guild_id: channel.guild_id }),
  })
  return done
}

const createReaction: Route = (context) => {
  const found = messageIn(context)
  if (isAnswer(found)) return found
  const { channel, message } = found
  const { world, path } = context
  const emoji = decodeURIComponent(path[5] ?? '')
  if (!/\p{Extended_Pictographic}|^\w+:\d+$/u.test(emoji)) return refuse(400, 10014)
  if ((world.rights(channel) & RIGHTS.react) === 0n) return refuse(403, 50013)
  if (channel.thread_metadata?.archived) return refuse(400, 50083)
  addReaction(message, emoji, world.bot.id)
  return done
}

export function addReaction(message: FakeMessage, emoji: string, user: string): void {
  const reactions = message.reactions ?? []
  const known = reactions.find((one) => one.emoji === emoji)
  if (known === undefined) message.reactions = [...reactions, { emoji, users: [user] }]
  else if (!known.users.includes(user)) known.users.push(user)
}

const typing: Route = (context) => {
  const channel = channelIn(context)
  return isAnswer(channel) ? channel : done
}

export const MESSAGE_ROUTES: Readonly<Record<string, readonly [string, string, Route]>> = {
  'get-messages': ['GET', '/channels/:id/messages', getMessages],
  'get-message': ['GET', '/channels/:id/messages/:id', getMessage],
  'create-message': ['POST', '/channels/:id/messages', createMessage],
  'edit-message': ['PATCH', '/channels/:id/messages/:id', editMessage],
  'delete-message': ['DELETE', '/channels/:id/messages/:id', deleteMessage],
  'create-reaction': ['PUT', '/channels/:id/messages/:id/reactions/:emoji/@me', createReaction],
  typing: ['POST', '/channels/:id/typing', typing],
}
