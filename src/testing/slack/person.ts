// Scripts a person: what they write, tap, react to, edit, delete and send becomes events for the app.
import { randomUUID } from 'node:crypto'
import { defined } from '../../contract/index.ts'
import { changed, countReply, deleted, generated, inChannel, threadOf } from './chat-methods.ts'
import { type FakeChannel, type FakeMessage, type FakeUser, fileFacts, KATE_ID, type World } from './world.ts'

export interface PersonOptions {
  readonly id?: string
  readonly name?: string
  /** The channel that the person is in. If absent, it is their direct chat with the bot. */
  readonly channel?: string
  /** The person's workspace, if it is another one (Slack Connect). */
  readonly team?: string
  readonly isBot?: boolean
}

export interface SayOptions {
  /** The thread that the person writes in: the ts of any of its messages. */
  readonly thread?: string
  readonly broadcast?: boolean
  /** Fields of the message. They override all others. */
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface Person {
  readonly user: FakeUser
  readonly channel: FakeChannel
  /** Writes a message. `@name` of the bot becomes a mention. The text is escaped as Slack does it. */
  says(text: string, options?: SayOptions): FakeMessage
  edits(ts: string, text: string): FakeMessage
  deletes(ts: string): void
  reacts(ts: string, name: string): void
  /** Presses the newest button with this label and returns the envelope id (Socket Mode). Throws when there is none. */
  taps(label: string): string
  sendsFile(file: {
    readonly name: string
    readonly mime?: string
    readonly content?: string | Buffer
    readonly text?: string
    readonly redirect?: string
  }): FakeMessage
  /** Sends a slash command. */
  commands(command: string, text?: string): string
  /** Uses a shortcut on a message. */
  shortcut(callbackId: string, ts: string): string
  /** The texts of the bot that this channel still shows, oldest first. */
  sees(): readonly string[]
}

/** The parts of the fake that the person uses. */
export interface Wires {
  readonly world: World
  readonly base: () => string
  readonly emit: (channel: FakeChannel, event: Readonly<Record<string, unknown>>) => void
  readonly interact: (payload: Readonly<Record<string, unknown>>) => string
  readonly command: (fields: Readonly<Record<string, string>>) => string
}

export function createPerson(wires: Wires, options: PersonOptions = {}): Person {
  const { world } = wires
  const team_id = options.team ?? world.team.id
  const user = world.addUser({
    id: options.id ?? KATE_ID,
    name: options.name ?? 'kate',
    real_name: options.name ?? 'Kate',
    is_bot: options.isBot ?? false,
    team_id,
    ...(team_id === world.team.id ? {} : { hidden: true }),
  })
  const named = options.channel === undefined ? undefined : world.channel(options.channel)
  const channel =
    options.channel === undefined
      ? world.direct(user.id)
      : (named ?? world.addChannel({ id: options.channel, shared: team_id !== world.team.id }))
  channel.members.add(user.id)

  const write = (
    content: Record<string, unknown> & { readonly text: string },
    { thread, broadcast, fields }: SayOptions = {},
  ) => {
    const root = threadOf(world, channel, thread ?? '')
    const message = world.put(channel.id, {
      user: user.id,
      ...(user.is_bot ? { bot_id: `B${user.id.slice(1)}` } : { client_msg_id: randomUUID() }),
      team: team_id,
      ...content,
      ...defined({ thread_ts: root }),
      ...(root !== undefined && broadcast ? { subtype: 'thread_broadcast' } : {}),
      ...fields,
    })
    countReply(world, channel, message)
    const event = { ...structuredClone(message), ...inChannel(channel, message.ts) }
    const team = team_id === world.team.id ? {} : { user_team: team_id, source_team: team_id }
    wires.emit(channel, { ...event, ...team })
    if (message.text.includes(`<@${world.bot.id}>`) && channel.kind !== 'im') {
      const { channel_type: _, ...mention } = event as Record<string, unknown>
      wires.emit(channel, { ...mention, ...team, type: 'app_mention' })
    }
    return message
  }

  const said = (text: string) => {
    const written = escaped(text, world)
    return { text: written, blocks: generated(world, written) }
  }

  const find = (ts: string) => {
    const found = world.find(channel.id, ts)
    if (!found) throw new Error(`there is no message ${ts} in ${channel.id}`)
    return found
  }

  const who = () => ({ id: user.id, username: user.name, name: user.name, team_id })
  const where = () => ({ id: channel.id, name: channel.kind === 'im' ? 'directmessage' : channel.name })
  const common = () => ({
    user: who(),
    api_app_id: world.appId,
    token: 'emulated-verification-token',
    team: { id: world.team.id, domain: world.team.domain },
    enterprise: null,
    is_enterprise_install: false,
    trigger_id: `${Date.now()}.${randomUUID()}`,
  })

  return {
    user,
    channel,
    says: (text, more) => write(said(text), more),
    edits(ts, text) {
      const message = find(ts)
      const before = structuredClone(message)
      Object.assign(message, said(text), { edited: { user: user.id, ts: world.nextTs() } })
      changed(wires, channel, message, before)
      return message
    },
    deletes(ts) {
      const message = find(ts)
      world.remove(channel.id, ts)
      deleted(wires, channel, message)
    },
    reacts(ts, name) {
      const message = find(ts)
      wires.emit(channel, {
        type: 'reaction_added',
        user: user.id,
        reaction: name,
        item: { type: 'message', channel: channel.id, ts },
        item_user: message.user,
        event_ts: world.nextTs(),
      })
    },
    taps(label) {
      const buttons = world
        .messages(channel.id)
        .toReversed()
        .flatMap((message) => buttonsOf(message).map((button) => ({ message, button })))
      const found = buttons.find(({ button }) => button.text?.text === label)
      if (!found) throw new Error(`there is no button "${label}" in ${channel.id}`)
      const { message, button } = found
      return wires.interact({
        type: 'block_actions',
        ...common(),
        container: {
          type: 'message',
          message_ts: message.ts,
          channel_id: channel.id,
          is_ephemeral: false,
          ...defined({ thread_ts: message.thread_ts }),
        },
        channel: where(),
        message,
        state: { values: {} },
        response_url: `${wires.base()}/response/${channel.id}/${message.ts}/${user.id}`,
        actions: [{ ...button, action_ts: world.nextTs() }],
      })
    },
    sendsFile({ name, mime, content = 'content', text = '', redirect }) {
      const file = world.addFile({
        name,
        bytes: Buffer.from(content as string),
        ...defined({ mimetype: mime }),
      })
      if (redirect !== undefined) file.redirect = redirect
      const files = [fileFacts(file, wires.base(), user.id)]
      const message = write({ ...said(text), files, upload: true }, { fields: { subtype: 'file_share' } })
      file.shares.push({ channel: channel.id, ts: message.ts, isPublic: channel.kind === 'channel' })
      return message
    },
    commands: (command, text = '') =>
      wires.command({
        token: 'emulated-verification-token',
        team_id: world.team.id,
        team_domain: world.team.domain,
        channel_id: channel.id,
        channel_name: where().name,
        user_id: user.id,
        user_name: user.name,
        command,
        text,
        api_app_id: world.appId,
        is_enterprise_install: 'false',
        response_url: `${wires.base()}/response/${channel.id}/0/${user.id}`,
        trigger_id: `${Date.now()}.${randomUUID()}`,
      }),
    shortcut: (callback_id, ts) =>
      wires.interact({
        type: 'message_action',
        callback_id,
        ...common(),
        channel: where(),
        message: structuredClone(find(ts)),
        message_ts: ts,
        action_ts: world.nextTs(),
        response_url: `${wires.base()}/response/${channel.id}/${ts}/${user.id}`,
      }),
    sees: () =>
      world
        .messages(channel.id)
        .filter((message) => message.user === world.bot.id)
        .map(shownText),
  }
}

interface Button {
  readonly type: string
  readonly text?: { readonly text?: string }
  readonly [field: string]: unknown
}

export function buttonsOf(message: FakeMessage): readonly Button[] {
  const attached = (message.attachments ?? []) as readonly { readonly blocks?: FakeMessage['blocks'] }[]
  const blocks = [...(message.blocks ?? []), ...attached.flatMap((one) => one.blocks ?? [])]
  return blocks
    .filter((block) => block.type === 'actions')
    .flatMap((block) =>
      (block.elements as readonly Button[]).map((button) => ({
        ...button,
        block_id: block.block_id ?? 'b1',
      })),
    )
}

/** The text as a person reads it: the blocks if there are any, or the text. Entities are decoded. */
export function shownText(message: FakeMessage): string {
  const attached = (message.attachments ?? []) as readonly { readonly blocks?: FakeMessage['blocks'] }[]
  const blocks = [...(message.blocks ?? []), ...attached.flatMap((one) => one.blocks ?? [])]
  const texts = blocks.map(({ type, text }) => {
    if (type === 'markdown') return String(text)
    const inner = (text as { readonly text?: unknown } | undefined)?.text
    return typeof inner === 'string' ? unescaped(inner) : ''
  })
  const shown = texts.filter((one) => one !== '').join('\n')
  return shown === '' ? unescaped(message.text) || (message.files ? '(file)' : '') : shown
}

function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

const TOKEN =
  /<(?:@[UW]\w+|#C\w+(?:\|[^>]*)?|!(?:here|channel|everyone|subteam\^\w+)|(?:https?|mailto):[^>\s]+)>/g

/** The typed text as Slack writes it: mentions and links as tokens, everything else escaped. */
function escaped(text: string, world: World): string {
  const named = text.replaceAll(`@${world.bot.name}`, `<@${world.bot.id}>`)
  let at = 0
  let out = ''
  for (const match of named.matchAll(TOKEN)) {
    out += entities(named.slice(at, match.index)) + match[0]
    at = match.index + match[0].length
  }
  return out + entities(named.slice(at))
}

function entities(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
