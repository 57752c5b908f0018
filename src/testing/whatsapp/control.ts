// The emulator's own HTTP endpoints, beside the Graph API. They are a page, POST /_person to act as a person, GET
// /_chat/NUMBER to see a chat as people see it, POST /_webhook to set the target of posts, and POST /_faults to set a
// fault plan. They listen on loopback and refuse other sites' scripts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError, withoutNulls } from '../../contract/index.ts'
import { controlPage } from '../control-page.ts'
import { openControlServer, readJsonObject } from '../control-server.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import type { FakeWhatsApp } from './fake-whatsapp.ts'

const PAGE = controlPage({
  platform: 'WhatsApp',
  places: [{ id: '4915112345678', name: 'a chat with the business' }],
  path: '/_chat/',
})

/** What a person does, as the body of POST /_person. It has one of text, tap, react, file, read, message. */
export interface WhatsAppPersonAction {
  /** The number of the person. The default is Kate's. */
  readonly from?: string
  readonly name?: string
  readonly text?: string
  readonly reply_to?: string
  /** The age of the message in hours, for a post that arrives late. */
  readonly hours_ago?: number
  readonly tap?: string
  readonly react?: { readonly on: string; readonly emoji: string | null }
  readonly file?: {
    readonly name: string
    readonly content?: string
    readonly mime?: string
    readonly caption?: string
  }
  /** Marks all messages of the business as read. */
  readonly read?: true
  /** Any other message: its type, and the value for that type. */
  readonly message?: { readonly type: string; readonly value: unknown }
}

/** Answers a request to the emulator's own endpoints. Returns false for any other request. */
export function whatsappControlServer(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeWhatsApp,
): boolean {
  return openControlServer(request, response, (path) => answer(request, path, fake))
}

async function answer(request: IncomingMessage, path: string, fake: FakeWhatsApp): Promise<unknown> {
  if (path === '/') return PAGE
  const [, id] = /^\/_chat\/([\w.+-]+)$/.exec(path) ?? []
  if (request.method === 'GET' && id !== undefined) return transcript(fake, id)
  if (request.method === 'GET' && path === '/_calls')
    return {
      calls: fake.world.calls,
      fired: fake.fired,
      posts: fake.webhook.answers,
      waiting: fake.webhook.waiting(),
    }
  if (request.method === 'POST') {
    const body = (await readJsonObject(request)) as Record<string, unknown>
    if (path === '/_person') return act(fake, body as WhatsAppPersonAction)
    if (path === '/_faults') {
      fake.plan(parseFaultRules(body))
      return { ok: true }
    }
    if (path === '/_webhook') {
      await fake.webhook.use(String(body.url))
      return { ok: true }
    }
    if (path === '/_template') {
      fake.world.templates.set(String(body.name), {
        language: String(body.language ?? 'en_US'),
        body: String(body.body ?? ''),
      })
      return { ok: true }
    }
    if (path === '/_token') {
      fake.expire(body.expired === true)
      return { ok: true }
    }
  }
  throw new SwitchboardError(
    'not_found',
    'there is POST /_person, /_webhook, /_template, /_token and /_faults, GET /_chat/NUMBER and /_calls',
  )
}

function act(fake: FakeWhatsApp, action: WhatsAppPersonAction): object {
  const person = fake.person(defined({ number: action.from, name: action.name }))
  const hours = action.hours_ago ?? 0
  const given = { agoMs: hours * 3_600_000, ...defined({ replyTo: action.reply_to }) }
  if (action.tap !== undefined) return { ok: true, id: person.taps(action.tap).id }
  if (action.file) return { ok: true, id: person.sendsMedia(action.file, given).id }
  if (action.message)
    return { ok: true, id: person.sends(action.message.type, action.message.value, given).id }
  if (action.read) {
    person.reads()
    return { ok: true }
  }
  if (action.react) {
    person.reacts(action.react.on, action.react.emoji)
    return { ok: true }
  }
  if (typeof action.text !== 'string' || action.text === '')
    throw new SwitchboardError('input_invalid', 'give one of text, tap, react, file, read or message')
  return { ok: true, id: person.says(action.text, given).id }
}

function transcript(fake: FakeWhatsApp, chat: string): object {
  const messages = fake.world.shown(chat).map(({ id, fromBot, type, text, choices, replyTo, reaction }) => ({
    id,
    from_bot: fromBot,
    type,
    text,
    buttons: choices.map(({ title }) => title),
    ...withoutNulls({ reply_to: replyTo, reaction }),
  }))
  return { chat, window_open: fake.world.isOpen(chat), marks: fake.world.marks, messages }
}
