// The emulator's own HTTP endpoints, beside the Bot API. They are a page, POST /_person to act as a person, GET
// /_chat/ID to see a chat as people see it, and POST /_faults to set a fault plan. They listen on loopback and refuse
// other sites' scripts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import { controlPage } from '../control-page.ts'
import { openControlServer, readJsonObject } from '../control-server.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import type { FakeTelegram } from './fake-telegram.ts'
import type { Person } from './person.ts'

const PAGE = controlPage({
  platform: 'Telegram',
  places: [{ id: '412587349', name: 'a direct chat with the bot' }],
  path: '/_chat/',
})

/** What a person does, as the body of POST /_person. It has one of text, tap, react, edit, file. */
export interface PersonAction {
  readonly chat?: number
  readonly from?: number
  readonly name?: string
  readonly text?: string
  readonly reply_to?: number
  readonly topic?: number
  readonly tap?: string
  readonly react?: { readonly on: number; readonly emoji: string }
  readonly edit?: { readonly on: number; readonly text: string }
  readonly file?: {
    readonly name: string
    readonly content?: string
    readonly mime?: string
    readonly caption?: string
  }
}

/** Answers a request to the emulator's own endpoints. Returns false for any other request. */
export function controlServer(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeTelegram,
): boolean {
  return openControlServer(request, response, (path) => answer(request, path, fake))
}

async function answer(request: IncomingMessage, path: string, fake: FakeTelegram): Promise<unknown> {
  if (path === '/') return PAGE
  const [, id] = /^\/_chat\/(-?\d+)$/.exec(path) ?? []
  if (request.method === 'GET' && id !== undefined) return transcript(fake, Number(id))
  if (request.method === 'GET' && path === '/_calls') return { calls: fake.world.calls, fired: fake.fired }
  if (request.method === 'POST' && path === '/_person')
    return act(fake, (await readJsonObject(request)) as PersonAction)
  if (request.method === 'POST' && path === '/_faults') {
    fake.plan(parseFaultRules(await readJsonObject(request)))
    return { ok: true }
  }
  throw new SwitchboardError(
    'not_found',
    'there is POST /_person, GET /_chat/ID, GET /_calls and POST /_faults',
  )
}

function act(fake: FakeTelegram, action: PersonAction): object {
  const person = personOf(fake, action)
  if (action.tap !== undefined) return { ok: true, update_id: person.taps(action.tap).update_id }
  if (action.react)
    return { ok: true, update_id: person.reacts(action.react.on, action.react.emoji).update_id }
  if (action.edit) return { ok: true, message_id: person.edits(action.edit.on, action.edit.text).message_id }
  if (action.file) return { ok: true, message_id: person.sendsFile(action.file).message_id }
  if (typeof action.text !== 'string' || action.text === '')
    throw new SwitchboardError('input_invalid', 'give one of text, tap, react, edit or file')
  const options = {
    ...defined({ replyTo: action.reply_to, topic: action.topic }),
  }
  return { ok: true, message_id: person.says(action.text, options).message_id }
}

function personOf(fake: FakeTelegram, { chat, from, name }: PersonAction): Person {
  return fake.person({
    ...defined({ id: from, name }),
    // A positive chat id is the direct chat of that person.
    ...(chat === undefined ? {} : chat > 0 ? { id: chat } : { chat: { id: chat, is_forum: true } }),
  })
}

function transcript(fake: FakeTelegram, id: number): object {
  const messages = fake.world.shown(id).map(({ message, fromBot, silent, reaction }) => ({
    id: message.message_id,
    from: message.from?.first_name ?? '',
    from_bot: fromBot,
    text: message.text ?? message.caption ?? (message.document || message.photo ? '(file)' : ''),
    buttons: message.reply_markup?.inline_keyboard.flat().map((button) => button.text) ?? [],
    ...defined({ topic: message.message_thread_id }),
    ...(silent ? { silent } : {}),
    ...withoutNulls({ reaction }),
  }))
  return { chat: fake.world.chat(id) ?? { id }, messages }
}
