// Routes of the fake REST API for channels, threads, servers, people and commands.
import { writeMessage } from './message-routes.ts'
import {
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
import { APP_ID, channelFacts, type FakeChannel, guildFacts, isThreadChannel, memberFacts } from './world.ts'

const getMe: Route = ({ world }) => ok({ ...world.bot, discriminator: '0000', flags: 0 })

const getApplication: Route = ({ world, contentIntent }) =>
  ok({ id: APP_ID, name: world.bot.username, flags: contentIntent ? 1 << 19 : 0, bot: world.bot })

const myGuilds: Route = ({ world, query }) => {
  const after = query.get('after')
  if (world.kicked || (after !== null && BigInt(world.guild.id) <= BigInt(after))) return ok([])
  const mine = world.guild.members.get(world.bot.id) ?? []
  const bits = world.guild.roles
    .filter(({ id }) => id === world.guild.id || mine.includes(id))
    .reduce((sum, { permissions }) => sum | BigInt(permissions), 0n)
  return ok([
    { id: world.guild.id, name: world.guild.name, owner: false, permissions: String(bits), features: [] },
  ])
}

const createDirect: Route = ({ world, body }) => {
  const id = String(body.recipient_id ?? '')
  const user = world.user(id)
  if (user === undefined || user.bot) return refuse(400, 50033)
  return ok(channelFacts(world.direct(id), world))
}

const getChannel: Route = (context) => {
  const channel = channelIn(context)
  return isAnswer(channel) ? channel : ok(channelFacts(channel, context.world))
}

function inGuild(context: RouteContext, answer: () => ReturnType<Route>) {
  const { world, path } = context
  if (path[1] !== world.guild.id) return refuse(404, 10004)
  return world.kicked ? refuse(403, 50001) : answer()
}

const getGuild: Route = (context) => inGuild(context, () => ok(guildFacts(context.world.guild)))

const getGuildChannels: Route = (context) =>
  inGuild(context, () => {
    const { world } = context
    // Discord lists all channels, also those that the bot does not see.
    const all = world.channels().filter((one) => one.guild_id !== undefined && !isThreadChannel(one))
    return ok(all.map((one) => channelFacts(one, world)))
  })

const getActiveThreads: Route = (context) =>
  inGuild(context, () => {
    const { world } = context
    const all = world.channels().filter((one) => isThreadChannel(one) && !one.thread_metadata?.archived)
    const seen = all.filter((one) => (world.rights(one) & RIGHTS.view) !== 0n)
    return ok({ threads: seen.map((one) => channelFacts(one, world)), members: [] })
  })

const getArchivedThreads: Route = (context) => {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  const { world } = context
  if ((world.rights(channel) & RIGHTS.history) === 0n) return refuse(403, 50013)
  const all = world.channels().filter((one) => one.parent_id === channel.id && one.thread_metadata?.archived)
  return ok({ threads: all.map((one) => channelFacts(one, world)), members: [], has_more: false })
}

const getMember: Route = (context) =>
  inGuild(context, () => {
    const { world, path } = context
    const user = world.user(path[3] ?? '')
    if (user === undefined || !world.guild.members.has(user.id)) return refuse(404, 10007)
    return ok({ user, ...memberFacts(world.guild, user.id) })
  })

/** A thread that begins at a message has the id of that message. */
const threadFromMessage: Route = (context) => {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  const { world, path, body } = context
  const message = world.find(channel.id, path[3] ?? '')
  if (message === undefined) return refuse(404, 10008)
  if ((world.rights(channel) & RIGHTS.threads) === 0n) return refuse(403, 50013)
  if (world.channel(message.id) !== undefined) return refuse(400, 160004)
  const problem = nameProblem(body.name)
  if (problem !== null) return problem
  return ok(openThread(context, channel, { id: message.id, name: String(body.name), by: world.bot.id }), 201)
}

const threadInChannel: Route = (context) => {
  const channel = channelIn(context)
  if (isAnswer(channel)) return channel
  const { world, body } = context
  const problem = nameProblem(body.name)
  if (problem !== null) return problem
  const isForum = channel.type === 15 || channel.type === 16
  if ((world.rights(channel) & (isForum ? RIGHTS.send : RIGHTS.threads)) === 0n) return refuse(403, 50013)
  const id = world.nextId()
  const made = openThread(context, channel, { id, name: String(body.name), by: world.bot.id })
  if (!isForum) return ok(made, 201)
  const thread = world.channel(id) as FakeChannel
  const message = (body.message ?? {}) as Readonly<Record<string, unknown>>
  // The first message of a post has the id of the post.
  const written = writeMessage({ ...context, body: { ...message, nonce: undefined } }, thread, { id })
  if (written.status >= 400) {
    world.removeChannel(id)
    return written
  }
  return ok({ ...made, message: written.body }, 201)
}

function nameProblem(name: unknown) {
  if (typeof name === 'string' && name.length >= 1 && name.length <= 100) return null
  return badForm(['name'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.')
}

export function openThread(
  context: Pick<RouteContext, 'world' | 'emit'>,
  parent: FakeChannel,
  { id, name, by }: { readonly id: string; readonly name: string; readonly by: string },
): Record<string, unknown> {
  const { world, emit } = context
  const thread = world.addChannel({
    id,
    type: 11,
    name,
    parent_id: parent.id,
    owner_id: by,
    thread_metadata: { archived: false, locked: false, auto_archive_duration: 1_440 },
  })
  const facts = channelFacts(thread, world)
  emit(thread, 'THREAD_CREATE', { ...facts, newly_created: true })
  return facts
}

const commandsOf: Route = ({ world }) => ok([...world.commands.values()])

const createCommand: Route = ({ world, body }) => {
  const problem = commandProblem(body)
  if (problem !== null) return problem
  const known = [...world.commands.values()].find(({ name }) => name === body.name)
  const id = String(known?.id ?? world.nextId())
  const made = { type: 1, ...body, id, application_id: APP_ID, version: world.nextId() }
  world.commands.set(id, made)
  return ok(made, known === undefined ? 201 : 200)
}

const replaceCommands: Route = (context) => {
  const { world } = context
  const list = Array.isArray(context.body.list) ? (context.body.list as Record<string, unknown>[]) : []
  for (const one of list) {
    const problem = commandProblem(one)
    if (problem !== null) return problem
  }
  world.commands.clear()
  for (const body of list) createCommand({ ...context, body })
  return commandsOf(context)
}

function commandProblem({ name, description }: Readonly<Record<string, unknown>>) {
  if (typeof name !== 'string' || !/^[-_\p{Ll}\p{N}]{1,32}$/u.test(name))
    return badForm(['name'], 'APPLICATION_COMMAND_INVALID_NAME', 'Command name is invalid')
  if (typeof description !== 'string' || description.length < 1 || description.length > 100)
    return badForm(['description'], 'BASE_TYPE_BAD_LENGTH', 'Must be between 1 and 100 in length.')
  return null
}

const deleteCommand: Route = ({ world, path }) =>
  world.commands.delete(path[3] ?? '') ? done : refuse(404, 10063)

const gatewayBot: Route = ({ gateway }) =>
  ok({
    url: gateway.url,
    shards: gateway.shards,
    session_start_limit: {
      total: 1_000,
      remaining: gateway.startsLeft,
      reset_after: 14_400_000,
      max_concurrency: 1,
    },
  })

export const OTHER_ROUTES: Readonly<Record<string, readonly [string, string, Route]>> = {
  'gateway-bot': ['GET', '/gateway/bot', gatewayBot],
  gateway: ['GET', '/gateway', ({ gateway }) => ok({ url: gateway.url })],
  'get-me': ['GET', '/users/@me', getMe],
  'my-guilds': ['GET', '/users/@me/guilds', myGuilds],
  'create-dm': ['POST', '/users/@me/channels', createDirect],
  'get-application': ['GET', '/applications/@me', getApplication],
  'get-channel': ['GET', '/channels/:id', getChannel],
  'thread-from-message': ['POST', '/channels/:id/messages/:id/threads', threadFromMessage],
  'create-thread': ['POST', '/channels/:id/threads', threadInChannel],
  'get-guild': ['GET', '/guilds/:id', getGuild],
  'guild-channels': ['GET', '/guilds/:id/channels', getGuildChannels],
  'active-threads': ['GET', '/guilds/:id/threads/active', getActiveThreads],
  'archived-threads': ['GET', '/channels/:id/threads/archived/public', getArchivedThreads],
  'get-member': ['GET', '/guilds/:id/members/:id', getMember],
  commands: ['GET', '/applications/:id/commands', commandsOf],
  'create-command': ['POST', '/applications/:id/commands', createCommand],
  'replace-commands': ['PUT', '/applications/:id/commands', replaceCommands],
  'delete-command': ['DELETE', '/applications/:id/commands/:id', deleteCommand],
}
