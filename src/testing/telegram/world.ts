// The state of the fake Bot API: chats with their messages, updates that wait for the bot, and files. It is plain data
// and the few functions that change it, without HTTP.

import type { UploadedFile } from '../request-body.ts'
import type { FakeEntity } from './telegram-html.ts'

export interface FakeUser {
  readonly id: number
  readonly is_bot: boolean
  readonly first_name: string
  readonly username?: string
}

export interface FakeChat {
  readonly id: number
  readonly type: 'private' | 'group' | 'supergroup' | 'channel'
  readonly title?: string
  readonly username?: string
  readonly first_name?: string
  readonly is_forum?: true
}

export interface FakeButton {
  readonly text: string
  readonly callback_data?: string
}

/** A message as the Bot API shows it, with additional fields for the test. */
export interface FakeMessage {
  readonly message_id: number
  readonly from?: FakeUser
  readonly chat: FakeChat
  date: number
  edit_date?: number
  text?: string
  caption?: string
  entities?: readonly FakeEntity[]
  reply_markup?: { readonly inline_keyboard: readonly (readonly FakeButton[])[] }
  [field: string]: unknown
}

/** The input of `put`. The world sets the id and the date. */
export interface NewMessage {
  readonly chat: FakeChat
  readonly from?: FakeUser
  readonly [field: string]: unknown
}

export interface Shown {
  readonly message: FakeMessage
  readonly fromBot: boolean
  /** Whether it was sent without a sound. */
  readonly silent: boolean
  /** The reaction of the bot. */
  reaction: string | null
  readonly sentAs: Readonly<Record<string, unknown>>
}

export interface FakeUpdate {
  readonly update_id: number
  readonly [kind: string]: unknown
}

export interface World {
  readonly bot: FakeUser & { readonly username: string }
  /** The calls of the bot with method and parameters, in order. */
  readonly calls: { readonly method: string; readonly params: Readonly<Record<string, unknown>> }[]
  readonly updates: FakeUpdate[]
  readonly toasts: { readonly id: string; readonly text: string; readonly alert: boolean }[]
  readonly files: Map<string, UploadedFile>
  /** True is a server without markup. It refuses every parse_mode as unreadable. */
  refuseMarkup: boolean
  chat(id: number): FakeChat | undefined
  chatNamed(name: string): FakeChat | undefined
  addChat(chat: FakeChat): FakeChat
  shown(chat: number): readonly Shown[]
  find(chat: number, messageId: number): Shown | undefined
  put(message: NewMessage, about: Omit<Shown, 'message' | 'reaction'>): FakeMessage
  remove(chat: number, messageId: number): void
  push(kind: string, value: unknown): FakeUpdate
  addFile(file: UploadedFile): {
    readonly file_id: string
    readonly file_unique_id: string
    readonly file_size: number
  }
  nextId(): number
  /** Calls `listen` after each new update. Returns a function that stops it. */
  onUpdate(listen: (update: FakeUpdate) => void): () => void
  now(): number
}

export function createWorld(options: {
  readonly botId: number
  readonly username: string
  readonly now: () => number
}): World {
  const chats = new Map<number, FakeChat>()
  const messages = new Map<number, Shown[]>()
  const messageIds = new Map<number, number>()
  const files = new Map<string, UploadedFile>()
  const updates: FakeUpdate[] = []
  const listeners = new Set<(update: FakeUpdate) => void>()
  let updateId = 1_000
  let counter = 0
  const seconds = () => Math.floor(options.now() / 1000)

  return {
    bot: { id: options.botId, is_bot: true, first_name: 'Switchboard', username: options.username },
    calls: [],
    updates,
    toasts: [],
    files,
    refuseMarkup: false,
    chat: (id) => chats.get(id),
    chatNamed: (name) =>
      [...chats.values()].find(
        (chat) => chat.username?.toLowerCase() === name.replace(/^@/, '').toLowerCase(),
      ),
    addChat(chat) {
      const known = chats.get(chat.id)
      if (known) return known
      chats.set(chat.id, chat)
      messages.set(chat.id, [])
      return chat
    },
    shown: (chat) => messages.get(chat) ?? [],
    find: (chat, id) => messages.get(chat)?.find(({ message }) => message.message_id === id),
    put(message, about) {
      const id = (messageIds.get(message.chat.id) ?? 0) + 1
      messageIds.set(message.chat.id, id)
      const whole: FakeMessage = { message_id: id, date: seconds(), ...message } as FakeMessage
      messages.get(message.chat.id)?.push({ message: whole, reaction: null, ...about })
      return whole
    },
    remove(chat, id) {
      const list = messages.get(chat) ?? []
      const at = list.findIndex(({ message }) => message.message_id === id)
      if (at !== -1) list.splice(at, 1)
    },
    push(kind, value) {
      const update = { update_id: updateId++, [kind]: structuredClone(value) }
      updates.push(update)
      for (const listen of listeners) listen(update)
      return update
    },
    addFile(file) {
      counter += 1
      const file_id = `BQACAgQAAxkFILE${counter}`
      files.set(file_id, file)
      return { file_id, file_unique_id: `AgADFILE${counter}`, file_size: file.bytes.length }
    },
    nextId: () => ++counter,
    onUpdate(listen) {
      listeners.add(listen)
      return () => void listeners.delete(listen)
    },
    now: seconds,
  }
}
