// Answers to interactions in the fake REST API. The bot has three seconds for the first and 15 minutes for the rest.
import { messageProblem } from './message-check.ts'
import {
  type Answer,
  badForm,
  done,
  type OpenInteraction,
  ok,
  type Route,
  type RouteContext,
  refuse,
} from './route.ts'
import { APP_ID } from './world.ts'

const TOKEN_MS = 15 * 60_000
const EPHEMERAL = 64
const KINDS: ReadonlySet<number> = new Set([1, 4, 5, 6, 7, 8, 9])

type Fields = Readonly<Record<string, unknown>>

const callback: Route = (context) => {
  const { path, body, interactions, now } = context
  const open = interactions.get(path[1] ?? '')
  if (open === undefined || open.token !== path[2]) return refuse(404, 10062)
  if (open.answered !== null) return refuse(400, 40060)
  if (now() - open.at > context.deadlineMs) return refuse(404, 10062)
  const type = Number(body.type)
  if (!KINDS.has(type)) return badForm(['type'], 'BASE_TYPE_CHOICES', 'Value must be one of the known types.')
  const data = (body.data ?? {}) as Fields
  if (type === 4 || type === 7) {
    const problem = messageProblem(data, 0)
    if (problem !== null) return problem
  }
  open.answered = type
  open.ephemeral = (Number(data.flags ?? 0) & EPHEMERAL) !== 0
  if (type === 9) open.modal = data
  if (type === 4) say(context, open, data)
  if (type === 7 && open.message !== undefined) change(context, open.channel, open.message, data)
  return context.query.get('with_response') === 'true'
    ? ok({ interaction: { id: open.id, type, response_message_ephemeral: open.ephemeral } })
    : done
}

/** Returns the open interaction of a webhook path, or the refusal. */
function openOf({ path, interactions, now }: RouteContext): OpenInteraction | Answer {
  const open = [...interactions.values()].find(({ token }) => token === path[2])
  if (path[1] !== APP_ID || open === undefined) return refuse(404, 10015)
  if (now() - open.at > TOKEN_MS) return refuse(401, 50027)
  return open.answered === null ? refuse(404, 10008) : open
}

function say({ world, emit }: RouteContext, open: OpenInteraction, data: Fields): string | null {
  if (open.ephemeral || (Number(data.flags ?? 0) & EPHEMERAL) !== 0) {
    world.ephemerals.push({ channel: open.channel, user: open.user, text: String(data.content ?? '') })
    return null
  }
  const channel = world.channel(open.channel)
  if (channel === undefined) return null
  const message = world.put(channel.id, { author: world.bot, content: String(data.content ?? ''), type: 20 })
  open.original ??= message.id
  emit(channel, 'MESSAGE_CREATE', message)
  return message.id
}

function change({ world, emit, now }: RouteContext, channelId: string, id: string, data: Fields): void {
  const [channel, message] = [world.channel(channelId), world.find(channelId, id)]
  if (channel === undefined || message === undefined) return
  if (typeof data.content === 'string') message.content = data.content
  if (Array.isArray(data.components)) message.components = data.components
  message.edited_timestamp = new Date(now()).toISOString()
  emit(channel, 'MESSAGE_UPDATE', message)
}

const editOriginal: Route = (context) => {
  const open = openOf(context)
  if ('status' in open) return open
  const problem = messageProblem(context.body, 0)
  if (problem !== null) return problem
  if (open.original === null) say(context, open, context.body)
  else change(context, open.channel, open.original, context.body)
  open.answered = 4
  return ok({ id: open.original ?? context.world.nextId(), content: context.body.content })
}

const deleteOriginal: Route = (context) => {
  const open = openOf(context)
  if ('status' in open) return open
  if (open.original !== null) context.world.remove(open.channel, open.original)
  open.answered = 4
  return done
}

const followUp: Route = (context) => {
  const open = openOf(context)
  if ('status' in open) return open
  const problem = messageProblem(context.body, context.files.length)
  if (problem !== null) return problem
  const flags = Number(context.body.flags ?? 0)
  const made = say(context, { ...open, ephemeral: (flags & EPHEMERAL) !== 0 }, context.body)
  return ok({ id: made ?? context.world.nextId(), content: context.body.content })
}

export const INTERACTION_ROUTES: Readonly<Record<string, readonly [string, string, Route]>> = {
  'interaction-callback': ['POST', '/interactions/:id/:token/callback', callback],
  'edit-original': ['PATCH', '/webhooks/:id/:token/messages/@original', editOriginal],
  'delete-original': ['DELETE', '/webhooks/:id/:token/messages/@original', deleteOriginal],
  'follow-up': ['POST', '/webhooks/:id/:token', followUp],
}
