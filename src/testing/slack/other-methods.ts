// Reactions, files by the external upload flow, and views of the fake Web API.
import { defined } from '../../contract/index.ts'
import { countReply, inChannel, ownFields, threadOf } from './chat-methods.ts'
import {
  type Answer,
  fail,
  isAnswer,
  json,
  type Method,
  type MethodContext,
  text,
  writable,
} from './method.ts'
import { fileFacts, sharesOf } from './world.ts'

export const OTHER_METHODS: Readonly<Record<string, Method>> = {
  'reactions.add': { scopes: ['reactions:write'], run: (context) => react(context, true) },
  'reactions.remove': { scopes: ['reactions:write'], run: (context) => react(context, false) },
  'files.getUploadURLExternal': { scopes: ['files:write'], run: uploadUrl },
  'files.completeUploadExternal': { scopes: ['files:write'], run: complete },
  'files.info': {
    scopes: ['files:read'],
    run: ({ world, params, base }) => {
      const file = world.files.get(text(params, 'file'))
      if (!file?.complete) return fail('file_not_found')
      return { ok: true, file: { ...fileFacts(file, base, world.bot.id), shares: sharesOf(file) } }
    },
  },
  'views.open': { run: (context) => view(context, context.world.nextId('V')) },
  'views.update': { run: (context) => view(context, text(context.params, 'view_id')) },
}

function react({ world, params, emit }: MethodContext, add: boolean): Answer {
  const channel = world.channel(text(params, 'channel'))
  if (!channel) return fail('channel_not_found')
  const message = world.find(channel.id, text(params, 'timestamp'))
  if (!message) return fail('message_not_found')
  const name = text(params, 'name').replace(/^:|:$/g, '')
  if (!/^[\w+'-]{1,100}(::skin-tone-\d)?$/.test(name)) return fail('invalid_name')
  message.reactions ??= []
  const standing = message.reactions.find((one) => one.name === name)
  const mine = standing?.users.includes(world.bot.id) === true
  if (add === mine) return fail(add ? 'already_reacted' : 'no_reaction')
  if (add && standing) standing.users.push(world.bot.id)
  else if (add) message.reactions.push({ name, users: [world.bot.id] })
  else standing?.users.splice(standing.users.indexOf(world.bot.id), 1)
  message.reactions = message.reactions.filter(({ users }) => users.length > 0)
  emit(channel, {
    type: add ? 'reaction_added' : 'reaction_removed',
    user: world.bot.id,
    reaction: name,
    item: { type: 'message', channel: channel.id, ts: message.ts },
    item_user: message.user,
    event_ts: world.nextTs(),
  })
  return { ok: true }
}

function uploadUrl({ world, params, base }: MethodContext): Answer {
  const name = text(params, 'filename')
  const length = Number(text(params, 'length'))
  if (name === '' || !(length > 0)) return fail('invalid_arguments')
  const file = world.addFile({ name, bytes: Buffer.alloc(0) })
  file.uploaded = false
  file.complete = false
  return { ok: true, upload_url: `${base}/upload/v1/${file.id}`, file_id: file.id }
}

/** Posts the file. Before this step it is not visible. */
function complete(context: MethodContext): Answer {
  const { world, params, base } = context
  const given = json(params, 'files')
  const list = Array.isArray(given) ? (given as readonly { readonly id?: unknown }[]) : []
  const files = list.map(({ id }) => world.files.get(String(id)))
  if (files.length === 0 || files.some((file) => !file?.uploaded)) return fail('invalid_arguments')
  const whole = files.filter((file) => file !== undefined)
  const place = text(params, 'channel_id') || text(params, 'channels')
  for (const file of whole) file.complete = true
  const answer = { ok: true, files: whole.map(({ id, name }) => ({ id, title: name })) }
  if (place === '') return answer
  const channel = writable({ ...context, params: { channel: place } })
  if (isAnswer(channel)) return channel
  if (/^[UW]/.test(place)) return fail('channel_not_found')
  const thread = threadOf(world, channel, text(params, 'thread_ts'))
  const message = world.put(channel.id, {
    ...ownFields(world),
    text: text(params, 'initial_comment'),
    files: whole.map((file) => fileFacts(file, base, world.bot.id)),
    upload: true,
    ...defined({ thread_ts: thread }),
  })
  const isPublic = channel.kind === 'channel'
  for (const file of whole) file.shares.push({ channel: channel.id, ts: message.ts, isPublic })
  countReply(world, channel, message)
  context.emit(channel, { ...message, subtype: 'file_share', ...inChannel(channel, message.ts) })
  return answer
}

function view({ world, params }: MethodContext, id: string): Answer {
  const given = json(params, 'view')
  if (typeof given !== 'object' || given === null) return fail('invalid_arguments')
  const made = { id, ...given, hash: world.nextId('h') }
  world.views.set(id, made)
  return { ok: true, view: made }
}
