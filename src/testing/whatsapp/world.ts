// The state of the fake Cloud API: people, their chats, templates, media, and when each person wrote last. It is plain
// data and the few functions that change it, without HTTP.
import { createHash } from 'node:crypto'

export interface FakeContact {
  /** The number as digits. Null for a person with a user name, whose number stays hidden. */
  readonly waId: string | null
  /** The id of the person for this business. */
  readonly userId: string
  readonly name: string
}

export interface Shown {
  readonly id: string
  /** The person's chat: the number, or the user id if there is no number. */
  readonly chat: string
  readonly fromBot: boolean
  readonly type: string
  readonly text: string
  readonly choices: readonly { readonly id: string; readonly title: string }[]
  readonly replyTo: string | null
  readonly sentAs: Readonly<Record<string, unknown>>
  /** The callback data of the business. */
  readonly opaque: string | null
  reaction: string | null
}

export interface FakeMedia {
  readonly id: string
  readonly mime: string
  readonly bytes: Buffer
  readonly name: string
}

export interface FakeTemplate {
  readonly language: string
  /** The text, with `{{1}}` and `{{2}}` for parameters. */
  readonly body: string
}

export interface World {
  readonly calls: { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[]
  readonly media: Map<string, FakeMedia>
  readonly templates: Map<string, FakeTemplate>
  /** The messages that the business marked as read, with or without a typing indicator. */
  readonly marks: { readonly on: string; readonly typing: boolean }[]
  shown(chat: string): readonly Shown[]
  find(id: string): Shown | undefined
  put(message: Omit<Shown, 'id' | 'reaction'>): Shown
  addMedia(file: Omit<FakeMedia, 'id'>): FakeMedia
  contact(contact: FakeContact): FakeContact
  /** Finds a person by number or user id. */
  contactOf(id: string): FakeContact | undefined
  wrote(chat: string, at: number): void
  /** Whether the window is open for a free text now. */
  isOpen(chat: string): boolean
  /** Whether the pair limit allows another message to this person. */
  mayPair(chat: string): boolean
  nextId(): number
  now(): number
}

const WINDOW_MS = 24 * 3_600_000
const PAIR_MS = 6_000
const PAIR_BURST = 45

export function createWorld({ now }: { readonly now: () => number }): World {
  const chats = new Map<string, Shown[]>()
  const contacts = new Map<string, FakeContact>()
  const wrote = new Map<string, number>()
  const evenAt = new Map<string, number>()
  const media = new Map<string, FakeMedia>()
  let counter = 0
  const nextId = () => ++counter

  return {
    calls: [],
    media,
    templates: new Map([['hello_world', { language: 'en_US', body: 'Hello World' }]]),
    marks: [],
    shown: (chat) => chats.get(chat) ?? [],
    find: (id) => [...chats.values()].flat().find((message) => message.id === id),
    put(message) {
      const whole: Shown = { ...message, id: wamid(message.chat, nextId()), reaction: null }
      chats.set(message.chat, [...(chats.get(message.chat) ?? []), whole])
      return whole
    },
    addMedia(file) {
      const whole = { ...file, id: String(1_000_000_000_000 + nextId()) }
      media.set(whole.id, whole)
      return whole
    },
    contact(contact) {
      contacts.set(contact.userId, contact)
      if (contact.waId !== null) contacts.set(contact.waId, contact)
      return contact
    },
    contactOf: (id) => contacts.get(id),
    wrote: (chat, at) => void wrote.set(chat, Math.max(at, wrote.get(chat) ?? 0)),
    isOpen: (chat) => now() - (wrote.get(chat) ?? Number.NEGATIVE_INFINITY) < WINDOW_MS,
    mayPair(chat) {
      const even = Math.max(now(), evenAt.get(chat) ?? 0)
      if (even - now() > (PAIR_BURST - 1) * PAIR_MS) return false
      evenAt.set(chat, even + PAIR_MS)
      return true
    },
    nextId,
    now,
  }
}

/** An id like Meta's: base64 of bytes that contain the number. */
function wamid(chat: string, count: number): string {
  const tail = createHash('sha256').update(`${chat}:${count}`).digest('hex').slice(0, 18).toUpperCase()
  const inside = Buffer.from(
    `\x1c\x18${String.fromCharCode(chat.length)}${chat}\x15\x02\x00\x11\x18\x12${tail}\x00`,
  )
  return `wamid.${inside.toString('base64')}`
}
