// Scripts a person: what they write, tap, react to, edit and send becomes updates for the bot.
import { defined } from '../../contract/index.ts'
import type { FakeChat, FakeMessage, FakeUpdate, FakeUser, World } from './world.ts'

export interface PersonOptions {
  readonly id?: number
  readonly name?: string
  readonly username?: string
  readonly isBot?: boolean
  /** The chat that the person is in. If absent, it is their direct chat with the bot. */
  readonly chat?: Partial<FakeChat> & { readonly id: number }
  readonly topic?: number
}

export interface SayOptions {
  readonly replyTo?: number
  readonly topic?: number
  /** Fields of the message in the Bot API. They override all others. */
  readonly fields?: Readonly<Record<string, unknown>>
}

export interface Person {
  readonly user: FakeUser
  readonly chat: FakeChat
  says(text: string, options?: SayOptions): FakeMessage
  /** Replies to a message of the chat and quotes it. */
  replies(to: number, text: string): FakeMessage
  /** Taps the newest button with this label. Throws when there is none. */
  taps(label: string): FakeUpdate
  reacts(to: number, emoji: string): FakeUpdate
  edits(messageId: number, text: string): FakeMessage
  sendsFile(file: {
    readonly name: string
    readonly mime?: string
    readonly content?: string
    readonly caption?: string
  }): FakeMessage
  /** Sends an album: one message for each file. */
  sendsPhotos(captions: readonly string[]): readonly FakeMessage[]
  /** The texts of the bot that this chat still shows, oldest first. */
  sees(): readonly string[]
}

export function createPerson(world: World, options: PersonOptions = {}): Person {
  const id = options.id ?? 412_587_349
  const first_name = options.name ?? 'Kate'
  const user: FakeUser = {
    id,
    is_bot: options.isBot ?? false,
    first_name,
    ...defined({ username: options.username }),
  }
  const chat = world.addChat(
    options.chat === undefined
      ? { id, type: 'private', first_name }
      : { type: 'supergroup', title: 'Group', ...options.chat },
  )
  const topicFields = (topic: number | undefined) =>
    topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true }

  const write = (
    content: Record<string, unknown>,
    { replyTo, topic, fields }: SayOptions = {},
  ): FakeMessage => {
    const quoted = replyTo === undefined ? undefined : world.find(chat.id, replyTo)?.message
    const message = world.put(
      {
        from: user,
        chat,
        ...content,
        ...topicFields(topic ?? options.topic),
        ...defined({ reply_to_message: quoted }),
        ...fields,
      },
      { fromBot: false, silent: false, sentAs: {} },
    )
    world.push('message', message)
    return message
  }

  const photo = () => {
    const facts = world.addFile({
      name: 'photo.jpg',
      mime: 'image/jpeg',
      bytes: Buffer.from(`picture ${world.nextId()}`),
    })
    const small = { ...facts, file_id: `${facts.file_id}S`, file_unique_id: `${facts.file_unique_id}S` }
    return {
      photo: [
        { ...small, width: 90, height: 60 },
        { ...facts, width: 1280, height: 853 },
      ],
    }
  }

  return {
    user,
    chat,
    says: (text, more) => write({ text, ...entitiesIn(text) }, more),
    replies: (to, text) => write({ text, ...entitiesIn(text) }, { replyTo: to }),
    taps(label) {
      const found = world
        .shown(chat.id)
        .toReversed()
        .flatMap(({ message }) =>
          (message.reply_markup?.inline_keyboard.flat() ?? []).map((button) => ({ message, button })),
        )
        .find(({ button }) => button.text === label)
      if (!found) throw new Error(`there is no button "${label}" in chat ${chat.id}`)
      const { message, button } = found
      return world.push('callback_query', {
        id: `4${String(world.nextId()).padStart(17, '0')}`,
        from: user,
        message,
        chat_instance: '-3141592653589793',
        data: button.callback_data,
      })
    },
    reacts: (to, emoji) =>
      world.push('message_reaction', {
        chat,
        message_id: to,
        user,
        date: world.now(),
        old_reaction: [],
        new_reaction: [{ type: 'emoji', emoji }],
      }),
    edits(messageId, text) {
      const found = world.find(chat.id, messageId)
      if (!found) throw new Error(`there is no message ${messageId} in chat ${chat.id}`)
      Object.assign(found.message, { text, ...entitiesIn(text), edit_date: world.now() })
      world.push('edited_message', found.message)
      return found.message
    },
    sendsFile({ name, mime = 'application/octet-stream', content = 'content', caption }) {
      const facts = world.addFile({ name, mime, bytes: Buffer.from(content) })
      return write({
        document: { ...facts, file_name: name, mime_type: mime },
        ...defined({ caption }),
      })
    },
    sendsPhotos(captions) {
      const media_group_id = `1350${world.nextId()}`
      return captions.map((caption) =>
        write({ ...photo(), media_group_id, ...(caption === '' ? {} : { caption }) }),
      )
    },
    sees: () =>
      world
        .shown(chat.id)
        .filter(({ fromBot }) => fromBot)
        .map(({ message }) => message.text ?? message.caption ?? '(file)'),
  }
}

/** Marks mentions and commands as a client does, with offsets in UTF-16 units. */
function entitiesIn(text: string): { entities?: readonly object[] } {
  const found = [...text.matchAll(/(?<![\w@/])(@\w{4,32}|\/[a-z_0-9]+(?:@\w+)?)/gi)].map((match) => ({
    type: match[0].startsWith('@') ? 'mention' : 'bot_command',
    offset: match.index,
    length: match[0].length,
  }))
  return found.length === 0 ? {} : { entities: found }
}
