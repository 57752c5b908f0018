// The methods of the fake Bot API: the checks, changes and answers of each. Refusals use the words of the real server.

import { defined } from '../../contract/index.ts'
import type { CallBody } from '../request-body.ts'
import { readTelegramHtml } from './telegram-html.ts'
import type { FakeButton, FakeChat, FakeMessage, Shown, World } from './world.ts'

export interface Refusal {
  readonly error_code: number
  readonly description: string
  readonly parameters?: Readonly<Record<string, unknown>>
}

export type Answer = { readonly result: unknown } | { readonly refusal: Refusal }

export type Method = (body: CallBody, world: World) => Answer

export function refuse(description: string, error_code = 400, parameters?: Record<string, unknown>): Answer {
  return { refusal: { error_code, description, ...defined({ parameters }) } }
}

const bad = (what: string): Answer => refuse(`Bad Request: ${what}`)
const ok = (result: unknown): Answer => ({ result })

type Params = CallBody['params']

/** Thrown inside a method for an invalid parameter. Its answer becomes the answer of the method. */
class RefusedError extends Error {
  readonly answer: Answer
  constructor(answer: Answer) {
    super('refused')
    this.answer = answer
  }
}

function chatOf(params: Params, world: World): FakeChat {
  const given = params.chat_id
  if (given === undefined || given === '') throw new RefusedError(bad('chat_id is empty'))
  const chat =
    typeof given === 'string' && given.startsWith('@') ? world.chatNamed(given) : world.chat(Number(given))
  if (!chat) throw new RefusedError(bad('chat not found'))
  const moved = (chat as { moved_to?: number }).moved_to
  if (moved !== undefined)
    throw new RefusedError(
      refuse('Bad Request: group chat was upgraded to a supergroup chat', 400, { migrate_to_chat_id: moved }),
    )
  if ((chat as { blocked?: boolean }).blocked)
    throw new RefusedError(refuse('Forbidden: bot was blocked by the user', 403))
  return chat
}

function topicOf(params: Params, chat: FakeChat): object {
  if (params.message_thread_id === undefined) return {}
  if (!chat.is_forum) throw new RefusedError(bad('message thread not found'))
  return { message_thread_id: Number(params.message_thread_id), is_topic_message: true }
}

function wordsOf(
  value: unknown,
  params: Params,
  limit: number,
  tooLong: string,
): { text: string; entities?: readonly object[] } {
  const raw = typeof value === 'string' ? value : ''
  const mode = params.parse_mode
  if (mode !== undefined && mode !== 'HTML' && mode !== 'MarkdownV2' && mode !== 'Markdown')
    throw new RefusedError(bad('unsupported parse_mode'))
  const read = mode === 'HTML' ? readTelegramHtml(raw) : { text: raw, entities: [] }
  if ('error' in read) throw new RefusedError(bad(`can't parse entities: ${read.error}`))
  if (read.text.length > limit) throw new RefusedError(bad(tooLong))
  return read.entities.length > 0 ? { text: read.text, entities: read.entities } : { text: read.text }
}

function replyOf(params: Params, chat: FakeChat, world: World): object {
  const reply = params.reply_parameters as
    | { message_id?: unknown; allow_sending_without_reply?: boolean }
    | undefined
  const id = Number(reply?.message_id ?? params.reply_to_message_id ?? Number.NaN)
  if (Number.isNaN(id)) return {}
  const found = world.find(chat.id, id)
  if (found) return { reply_to_message: found.message }
  if (reply?.allow_sending_without_reply) return {}
  throw new RefusedError(bad('message to be replied not found'))
}

function markupOf(params: Params): { reply_markup?: NonNullable<FakeMessage['reply_markup']> } {
  const markup = params.reply_markup as { inline_keyboard?: readonly (readonly FakeButton[])[] } | undefined
  if (markup?.inline_keyboard === undefined) return {}
  for (const button of markup.inline_keyboard.flat()) {
    if (typeof button.text !== 'string' || button.text === '')
      throw new RefusedError(bad('inline keyboard button text must be non-empty'))
    if (Buffer.byteLength(button.callback_data ?? '') > 64) throw new RefusedError(bad('BUTTON_DATA_INVALID'))
  }
  return { reply_markup: { inline_keyboard: markup.inline_keyboard } }
}

function fromBot(params: Params, world: World, chat: FakeChat, content: object): FakeMessage {
  return world.put(
    {
      from: world.bot,
      chat,
      ...topicOf(params, chat),
      ...replyOf(params, chat, world),
      ...content,
      ...markupOf(params),
    },
    {
      fromBot: true,
      silent: params.disable_notification === true || params.disable_notification === 'true',
      sentAs: params,
    },
  )
}

const sendMessage: Method = ({ params }, world) => {
  const chat = chatOf(params, world)
  if (world.refuseMarkup && params.parse_mode !== undefined)
    return bad('can\'t parse entities: Unsupported start tag "b" at byte offset 0')
  const words = wordsOf(params.text, params, 4096, 'message is too long')
  if (words.text.trim() === '') return bad('message text is empty')
  return ok(fromBot(params, world, chat, words))
}

const sendFile =
  (field: 'document' | 'photo'): Method =>
  ({ params, files }, world) => {
    const chat = chatOf(params, world)
    const given = params[field]
    const upload =
      typeof given === 'string' && given.startsWith('attach://') ? files[given.slice(9)] : files[field]
    const again = typeof given === 'string' ? world.files.get(given) : undefined
    if (!upload && !again) return bad(`there is no ${field} in the request`)
    const facts = upload
      ? world.addFile(upload)
      : { file_id: String(given), file_unique_id: String(given), file_size: again?.bytes.length ?? 0 }
    const { name, mime } = upload ?? again ?? { name: 'file', mime: '' }
    const words = wordsOf(params.caption ?? '', params, 1024, 'message caption is too long')
    const caption =
      words.text === '' ? {} : { caption: words.text, ...defined({ caption_entities: words.entities }) }
    const content =
      field === 'photo'
        ? { photo: [{ ...facts, width: 90, height: 90 }] }
        : { document: { ...facts, file_name: name, mime_type: mime } }
    return ok(fromBot(params, world, chat, { ...content, ...caption }))
  }

function ownMessage(params: Params, world: World, what: 'edit' | 'delete'): Shown {
  const chat = chatOf(params, world)
  const found = world.find(chat.id, Number(params.message_id))
  if (!found) throw new RefusedError(bad(`message to ${what} not found`))
  if (!found.fromBot)
    throw new RefusedError(bad(`message can't be ${what === 'edit' ? 'edited' : 'deleted'}`))
  return found
}

const editMessageText: Method = ({ params }, world) => {
  const { message } = ownMessage(params, world, 'edit')
  const words = wordsOf(params.text, params, 4096, 'MESSAGE_TOO_LONG')
  if (words.text.trim() === '') return bad('message text is empty')
  const markup = markupOf(params)
  const same =
    message.text === words.text &&
    JSON.stringify(message.entities ?? []) === JSON.stringify(words.entities ?? []) &&
    JSON.stringify(message.reply_markup) === JSON.stringify(markup.reply_markup)
  if (same) {
    return bad(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    )
  }
  delete message.reply_markup
  delete message.entities
  Object.assign(message, words, markup, { edit_date: world.now() })
  return ok(message)
}

const editMessageReplyMarkup: Method = ({ params }, world) => {
  const { message } = ownMessage(params, world, 'edit')
  delete message.reply_markup
  Object.assign(message, markupOf(params))
  return ok(message)
}

const answerCallbackQuery: Method = ({ params }, world) => {
  const id = String(params.callback_query_id ?? '')
  if (id === '') return bad('query is too old and response timeout expired or query ID is invalid')
  world.toasts.push({ id, text: String(params.text ?? ''), alert: params.show_alert === true })
  return ok(true)
}

const setMessageReaction: Method = ({ params }, world) => {
  const chat = chatOf(params, world)
  const found = world.find(chat.id, Number(params.message_id))
  if (!found) return bad('message to react not found')
  const [reaction] = (params.reaction ?? []) as { type?: string; emoji?: string }[]
  if (reaction !== undefined && !ALLOWED_REACTIONS.has(reaction.emoji ?? '')) return bad('REACTION_INVALID')
  found.reaction = reaction?.emoji ?? null
  return ok(true)
}

const getFile: Method = ({ params }, world) => {
  const id = String(params.file_id ?? '')
  const file = world.files.get(id)
  if (!file) return bad('invalid file_id')
  if (file.bytes.length > 20 * 1_048_576) return bad('file is too big')
  return ok({ file_id: id, file_unique_id: id, file_size: file.bytes.length, file_path: `documents/${id}` })
}

const METHODS: Readonly<Record<string, Method>> = {
  getme: (_, world) =>
    ok({
      ...world.bot,
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
    }),
  sendmessage: sendMessage,
  senddocument: sendFile('document'),
  sendphoto: sendFile('photo'),
  editmessagetext: editMessageText,
  editmessagereplymarkup: editMessageReplyMarkup,
  answercallbackquery: answerCallbackQuery,
  setmessagereaction: setMessageReaction,
  sendchataction: ({ params }, world) => {
    chatOf(params, world)
    return ok(true)
  },
  deletemessage: ({ params }, world) => {
    const { message } = ownMessage(params, world, 'delete')
    world.remove(message.chat.id, message.message_id)
    return ok(true)
  },
  setmycommands: () => ok(true),
  getfile: getFile,
}

/** Runs a method. Returns null for an unknown name. Names are not case-sensitive. */
export function runMethod(name: string, body: CallBody, world: World): Answer | null {
  const method = METHODS[name.toLowerCase()]
  if (method === undefined) return null
  try {
    return method(body, world)
  } catch (thrown) {
    if (thrown instanceof RefusedError) return thrown.answer
    throw thrown
  }
}

// The emoji that the Bot API accepts as reactions (ReactionTypeEmoji). Others are refused with REACTION_INVALID.

const ALLOWED_REACTIONS: ReadonlySet<string> = new Set(
  (
    '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 ' +
    '👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷‍♂ 🤷 🤷‍♀ 😡'
  ).split(' '),
)
