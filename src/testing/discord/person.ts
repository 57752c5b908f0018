// Scripts a person: what they write, tap, choose, react to, edit, delete and send becomes events for the bot.
import { randomUUID } from 'node:crypto'
import { defined } from '../../contract/index.ts'
import { addReaction, keepFile } from './message-routes.ts'
import { openThread } from './other-routes.ts'
import type { OpenInteraction, RouteContext } from './route.ts'
import {
  APP_ID,
  channelFacts,
  type FakeChannel,
  type FakeMessage,
  type FakeUser,
  KATE_ID,
  memberFacts,
  type World,
} from './world.ts'

export interface PersonOptions {
  readonly id?: string
  readonly name?: string
  readonly nick?: string
  /** The channel or thread that the person is in. If absent, it is their direct chat with the bot. */
  readonly channel?: string
  readonly isBot?: boolean
}

export interface SayOptions {
  /** The id of the message that the person replies to. */
  readonly replyTo?: string
  /** Fields of the message. They override all others. */
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface Person {
  readonly user: FakeUser
  readonly channel: FakeChannel
  /** Writes a message. `@name` of the bot becomes a mention. */
  says(text: string, options?: SayOptions): FakeMessage
  edits(id: string, text: string): FakeMessage
  /** Sends an update of a message that the person did not edit, as Discord does for a preview or a pin. */
  touches(id: string, fields: Readonly<Record<string, unknown>>): void
  deletes(id: string): void
  reacts(id: string, emoji: string): void
  /** Presses the newest button with this label. Throws when there is none. */
  taps(label: string): OpenInteraction
  /** Chooses a value of a select menu on this message. */
  chooses(id: string, customId: string, value: string): OpenInteraction
  /** Sends a slash command. */
  commands(name: string, text?: string): OpenInteraction
  /** Submits a modal that is open. */
  submits(customId: string, text: string): OpenInteraction
  sendsFile(file: {
    readonly name: string
    readonly mime?: string
    readonly content?: string | Buffer
    readonly text?: string
  }): FakeMessage
  /** Opens a thread, or a post in a forum. Returns the same person in it. */
  opens(name: string, text: string): Person
  /** The texts of the bot that this channel still shows, oldest first. */
  sees(): readonly string[]
}

export interface SentInteraction {
  readonly id: string
  readonly token: string
  readonly channel_id: string
  readonly by: string
  readonly on?: string
  readonly payload: Readonly<Record<string, unknown>>
}

/** The parts of the fake that the person uses. */
export interface Wires {
  readonly world: World
  readonly emit: RouteContext['emit']
  readonly base: () => string
  readonly interact: (interaction: SentInteraction) => OpenInteraction
}

export function createPerson(wires: Wires, options: PersonOptions = {}): Person {
  const { world, emit } = wires
  const user = world.addUser({
    id: options.id ?? KATE_ID,
    username: options.name ?? 'kate',
    global_name: options.name ?? 'Kate',
    ...(options.isBot ? { bot: true as const } : {}),
  })
  const found = options.channel === undefined ? world.direct(user.id) : world.channel(options.channel)
  if (found === undefined) throw new Error(`there is no channel ${options.channel}`)
  const channel = found
  if (channel.guild_id !== undefined && !world.guild.members.has(user.id))
    world.guild.members.set(user.id, [])
  if (options.nick !== undefined) world.guild.nicks.set(user.id, options.nick)

  const find = (id: string) => {
    const message = world.find(channel.id, id)
    if (!message) throw new Error(`there is no message ${id} in ${channel.id}`)
    return message
  }
  const write = (text: string, { replyTo, fields }: SayOptions = {}) => {
    const content = text.replaceAll(`@${world.bot.username}`, `<@${world.bot.id}>`)
    const before = replyTo === undefined ? undefined : world.find(channel.id, replyTo)
    const reply =
      replyTo === undefined
        ? {}
        : {
            type: 19,
            message_reference: { type: 0, message_id: replyTo, channel_id: channel.id },
            referenced_message: before ?? null,
          }
    const message = world.put(channel.id, { author: user, content, ...reply, ...fields })
    emit(channel, 'MESSAGE_CREATE', message)
    return message
  }
  const at = () => ({ channel_id: channel.id, ...defined({ guild_id: channel.guild_id }) })

  const interact = (type: number, data: Readonly<Record<string, unknown>>, message?: FakeMessage) => {
    const id = world.nextId()
    const token = `emulated-${randomUUID()}`
    const who =
      channel.guild_id === undefined
        ? { user }
        : { member: { user, ...memberFacts(world.guild, user.id), permissions: '0' } }
    const payload = {
      id,
      application_id: APP_ID,
      type,
      token,
      version: 1,
      data,
      channel: channelFacts(channel, world),
      ...at(),
      ...who,
      locale: 'en-US',
      app_permissions: '0',
      attachment_size_limit: 10_485_760,
      context: channel.guild_id === undefined ? 1 : 0,
      ...defined({ message }),
    }
    return wires.interact({
      id,
      token,
      channel_id: channel.id,
      by: user.id,
      payload,
      ...defined({ on: message?.id }),
    })
  }

  return {
    user,
    channel,
    says: write,
    edits(id, text) {
      const message = find(id)
      message.content = text
      message.edited_timestamp = new Date(world.messages(channel.id).length + Date.now()).toISOString()
      emit(channel, 'MESSAGE_UPDATE', message)
      return message
    },
    touches(id, fields) {
      emit(channel, 'MESSAGE_UPDATE', { ...find(id), ...fields })
    },
    deletes(id) {
      find(id)
      world.remove(channel.id, id)
      emit(channel, 'MESSAGE_DELETE', { id, ...at() })
    },
    reacts(id, emoji) {
      addReaction(find(id), emoji, user.id)
      const member =
        channel.guild_id === undefined ? {} : { member: { user, ...memberFacts(world.guild, user.id) } }
      emit(channel, 'MESSAGE_REACTION_ADD', {
        user_id: user.id,
        message_id: id,
        emoji: { id: null, name: emoji },
        burst: false,
        type: 0,
        ...at(),
        ...member,
      })
    },
    taps(label) {
      const buttons = world
        .messages(channel.id)
        .toReversed()
        .flatMap((message) => buttonsOf(message).map((button) => ({ message, button })))
      const one = buttons.find(({ button }) => button.label === label)
      if (!one) throw new Error(`there is no button "${label}" in ${channel.id}`)
      return interact(3, { component_type: 2, custom_id: one.button.custom_id, id: 1 }, one.message)
    },
    chooses: (id, custom_id, value) =>
      interact(3, { component_type: 3, custom_id, values: [value] }, find(id)),
    commands(name, text) {
      const options_ = text === undefined ? {} : { options: [{ name: 'text', type: 3, value: text }] }
      return interact(2, { id: world.nextId(), name, type: 1, ...options_ })
    },
    submits: (custom_id, text) =>
      interact(5, {
        custom_id,
        components: [{ type: 1, components: [{ type: 4, custom_id: 'swb:question', value: text }] }],
      }),
    sendsFile({ name, mime = 'application/octet-stream', content = 'content', text = '' }) {
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      const attachments = [keepFile(world, wires.base(), channel.id, { name, mime, bytes })]
      return write(text, { fields: { attachments } })
    },
    opens(name, text) {
      const isForum = channel.type === 15
      const starter = isForum ? null : write(text)
      const id = starter?.id ?? world.nextId()
      openThread({ world, emit }, channel, { id, name, by: user.id })
      const inside = createPerson(wires, { ...options, channel: id })
      // The first message of a post has the id of the post.
      if (isForum) inside.says(text, { fields: { id } })
      return inside
    },
    sees: () =>
      world
        .messages(channel.id)
        .filter((message) => message.author.id === world.bot.id)
        .map(shownText),
  }
}

interface Button {
  readonly type?: unknown
  readonly label?: string
  readonly custom_id?: string
}

export function buttonsOf(message: FakeMessage): readonly Button[] {
  return message.components.flatMap((row) =>
    Array.isArray(row.components) ? (row.components as readonly Button[]) : [],
  )
}

/** The text as a person reads it. It leaves out the backslashes that escape formatting characters. */
export function shownText(message: FakeMessage): string {
  const embeds = message.embeds.map(({ description }) => String(description ?? ''))
  const files = message.attachments.map(({ filename }) => `(file: ${String(filename)})`)
  return [unescaped(message.content), ...embeds, ...files].filter((part) => part !== '').join('\n')
}

function unescaped(text: string): string {
  return text.replace(/\\([\\*_~`|<>[\]()#.+-])/g, '$1')
}
