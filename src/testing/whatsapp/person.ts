// A scripted person in the fake WhatsApp. Their actions reach the business as posts. They see the messages in their
// chat.
import { defined, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import type { FakeContact, Shown, World } from './world.ts'

export interface PersonOptions {
  /** The number as digits. Null for a person with a user name, whose number stays hidden. */
  readonly number?: string | null
  readonly name?: string
}

export interface SayOptions {
  readonly replyTo?: string
  /** The age of the message, for a post that arrives hours late. */
  readonly agoMs?: number
}

export interface SentMedia {
  readonly type?: 'image' | 'audio' | 'video' | 'document' | 'sticker'
  readonly name?: string
  readonly content?: string | Buffer
  readonly mime?: string
  readonly caption?: string
}

export interface Person {
  readonly contact: FakeContact
  /** The number or the user id. */
  readonly chat: string
  says(text: string, options?: SayOptions): Shown
  /** Sends any message: its type, and the value for that type. */
  sends(type: string, inside: unknown, options?: SayOptions & { readonly more?: object }): Shown
  sendsMedia(media: SentMedia, options?: SayOptions): Shown
  /** Chooses a button or row with this title, of the newest message that has one. Throws when there is none. */
  taps(title: string): Shown
  /** Reacts with an emoji. Null removes the reaction. */
  reacts(on: string, emoji: string | null): void
  /** Marks all messages of the business as read. */
  reads(): void
  /** The texts of the business, oldest first. */
  sees(): readonly string[]
}

export interface PersonDeps {
  readonly world: World
  readonly post: (value: Readonly<Record<string, unknown>>) => void
  readonly status: (message: Shown, status: string) => void
}

export const KATE = '4915112345678'

export function createPerson({ world, post, status }: PersonDeps, options: PersonOptions = {}): Person {
  const waId = options.number === undefined ? KATE : options.number
  const name = options.name ?? 'Kate'
  const userId = `DE.${(waId ?? `${name}0username`).replaceAll(/[^A-Za-z0-9]/g, '')}`
  const contact = world.contact({ waId, userId, name })
  const chat = waId ?? userId

  const tell = (message: Readonly<Record<string, unknown>>, at: number) => {
    const named = { user_id: userId, ...withoutNulls({ wa_id: waId }) }
    const profile = { name, ...(waId === null ? { username: name.toLowerCase() } : {}) }
    const from = { from_user_id: userId, ...withoutNulls({ from: waId }) }
    world.wrote(chat, at)
    post({
      contacts: [{ profile, ...named }],
      messages: [{ ...from, timestamp: String(Math.floor(at / 1_000)), ...message }],
    })
  }

  const put = (type: string, text: string, sentAs: Readonly<Record<string, unknown>>, replyTo?: string) =>
    world.put({
      chat,
      fromBot: false,
      type,
      text,
      choices: [],
      replyTo: replyTo ?? null,
      sentAs,
      opaque: null,
    })

  const person: Person = {
    contact,
    chat,
    says: (text, given) => person.sends('text', { body: text }, given),
    sends(type, inside, { replyTo, agoMs = 0, more = {} } = {}) {
      const words = (inside as { readonly body?: unknown } | null)?.body
      const shown = put(type, typeof words === 'string' ? words : '', { [type]: inside }, replyTo)
      const context = replyTo === undefined ? {} : { context: { from: 'business', id: replyTo } }
      tell({ ...context, id: shown.id, type, [type]: inside, ...more }, world.now() - agoMs)
      return shown
    },
    sendsMedia(
      { type = 'document', name: file = 'notes.txt', content = 'words', mime = 'text/plain', caption },
      given,
    ) {
      const media = world.addMedia({ mime, bytes: Buffer.from(content), name: file })
      const named = type === 'document' ? { filename: file } : {}
      return person.sends(
        type,
        {
          id: media.id,
          mime_type: mime,
          sha256: '',
          ...named,
          ...defined({ caption }),
        },
        given,
      )
    },
    taps(title) {
      const on = world.shown(chat).findLast(({ choices }) => choices.some((one) => one.title === title))
      const choice = on?.choices.find((one) => one.title === title)
      if (on === undefined || choice === undefined)
        throw new SwitchboardError('input_invalid', `there is no choice "${title}"`)
      const type = on.sentAs.type === 'list' ? 'list_reply' : 'button_reply'
      return person.sends('interactive', { type, [type]: { id: choice.id, title } }, { replyTo: on.id })
    },
    reacts(on, emoji) {
      const shown = world.find(on)
      if (shown) shown.reaction = emoji
      const inside = { message_id: on, ...withoutNulls({ emoji }) }
      tell({ id: `${on}.r${world.nextId()}`, type: 'reaction', reaction: inside }, world.now())
    },
    reads() {
      for (const message of world.shown(chat)) if (message.fromBot) status(message, 'read')
    },
    sees: () =>
      world
        .shown(chat)
        .filter(({ fromBot, type }) => fromBot && type !== 'reaction')
        .map(({ text }) => text),
  }
  return person
}
