// A fake Cloud API on loopback that speaks the real wire: messages, media, read marks, statuses, the window, pair
// limits and templates. A fault plan makes it fail. Tests and `switchboard emulate whatsapp` use it. `person(…)`
// scripts people.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bytesOf, openFakeServer } from '../fake-server.ts'
import { createFaultPlan, type FaultPlan, type FaultRule } from '../faults/fault-plan.ts'
import { type CallBody, readBody } from '../request-body.ts'
import { type Answer, errorBody, refuse, titleOf } from './graph-errors.ts'
import { checkMessage } from './message-check.ts'
import { createPerson, type Person, type PersonOptions } from './person.ts'
import { createWebhookPosts, type WebhookPosts } from './webhook-posts.ts'
import { createWorld, type Shown, type World } from './world.ts'

export interface FakeWhatsAppOptions {
  readonly token?: string
  readonly port?: number
  readonly faults?: readonly FaultRule[]
  readonly seed?: number
  readonly now?: () => number
  readonly retryMs?: readonly number[]
  readonly answerMs?: number
  /** The statuses that a message gets by itself, in order. */
  readonly statuses?: readonly ('sent' | 'delivered' | 'read')[]
  /** False is a server that does not return the business's own callback data. */
  readonly givesBack?: boolean
  /**
   * True refuses a text outside the window at once. Otherwise the text is accepted, and a status reports the failure.
   */
  readonly refusesAtOnce?: boolean
  /** Called with each message of the business. */
  readonly onMessage?: (message: Shown) => void
  /** Answers requests that are not of the Graph API, such as a control page. It returns true when it answered. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse, fake: FakeWhatsApp) => boolean
}

export interface FakeWhatsApp {
  /** The value for the setting `api_url`. */
  readonly url: string
  readonly token: string
  readonly appSecret: string
  readonly verifyToken: string
  readonly phoneNumberId: string
  readonly world: World
  readonly webhook: WebhookPosts
  readonly fired: FaultPlan['fired']
  person(options?: PersonOptions): Person
  /** Posts a status of a message of the business. `more` holds the fields of an error. */
  status(message: Shown, status: string, more?: object): void
  /** Wraps any change of the number in the envelope of a post. */
  envelope(value: Readonly<Record<string, unknown>>, field?: string): object
  /** True refuses every call with code 190 from now on. False ends that. */
  expire(expired: boolean): void
  plan(faults: readonly FaultRule[], seed?: number): void
  stop(): Promise<void>
}

export const FAKE_ACCESS_TOKEN = 'EAAGfakeAccessTokenOfTheEmulator0123456789'
export const FAKE_APP_SECRET = 'emulated-app-secret-0123456789abcdef'
export const FAKE_VERIFY_TOKEN = 'emulated-verify-token'
export const FAKE_PHONE_NUMBER_ID = '106540352242922'
export const FAKE_DISPLAY_NUMBER = '15550783881'
const BUSINESS_ID = '102290129340398'
const MEDIA_LIFE_MS = 5 * 60_000
const MAX_BODY_BYTES = 110 * 1_048_576

export async function createFakeWhatsApp(options: FakeWhatsAppOptions = {}): Promise<FakeWhatsApp> {
  const token = options.token ?? FAKE_ACCESS_TOKEN
  const world = createWorld({ now: options.now ?? Date.now })
  let plan = createFaultPlan(options.faults, options.seed)
  let expired = false
  const webhook = createWebhookPosts({
    appSecret: FAKE_APP_SECRET,
    verifyToken: FAKE_VERIFY_TOKEN,
    retryMs: options.retryMs ?? [200, 500, 1_000, 2_000],
    answerMs: options.answerMs ?? 10_000,
    plan: () => plan,
  })

  const envelope = (value: Readonly<Record<string, unknown>>, field = 'messages') => {
    const metadata = { display_phone_number: FAKE_DISPLAY_NUMBER, phone_number_id: FAKE_PHONE_NUMBER_ID }
    const change = { field, value: { messaging_product: 'whatsapp', metadata, ...value } }
    return { object: 'whatsapp_business_account', entry: [{ id: BUSINESS_ID, changes: [change] }] }
  }

  const status = (message: Shown, name: string, more: object = {}) => {
    const opaque =
      message.opaque === null || options.givesBack === false
        ? {}
        : { biz_opaque_callback_data: message.opaque }
    const whole = {
      id: message.id,
      status: name,
      timestamp: String(Math.floor(world.now() / 1_000)),
      recipient_id: message.chat,
      ...opaque,
      ...(name === 'sent' ? { pricing: { billable: true, pricing_model: 'PMP', category: 'service' } } : {}),
      ...more,
    }
    webhook.post(envelope({ statuses: [whole] }))
  }

  const failLater = (message: Shown, code: number, details: string) =>
    status(message, 'failed', {
      errors: [{ code, title: titleOf(code), message: titleOf(code), error_data: { details } }],
    })

  const send = (body: Readonly<Record<string, unknown>>): Answer => {
    const to = String(body.to ?? body.recipient ?? '').replace(/^\+/, '')
    if (to === '') return refuse(131008, 'to or recipient is missing')
    if (to === FAKE_DISPLAY_NUMBER) return refuse(131021, 'Sender and recipient phone numbers are the same')
    const seen = checkMessage(body, world)
    if (!('text' in seen)) return seen
    const contact = world.contactOf(to)
    const chat = contact?.waId ?? contact?.userId ?? to
    const closed = seen.type !== 'template' && !world.isOpen(chat)
    const reason =
      'Message failed to send because more than 24 hours have passed since the customer last replied.'
    if (closed && options.refusesAtOnce) return refuse(131047, reason)
    if (!world.mayPair(chat)) return refuse(131056, 'too many messages to the same number in a short time')
    const reply = (body.context as { readonly message_id?: unknown } | undefined)?.message_id
    const interactive = body.interactive as { readonly type?: unknown } | undefined
    const message = world.put({
      chat,
      fromBot: true,
      ...seen,
      // An undelivered message is in no chat that people see.
      ...(closed || contact === undefined ? { type: 'undelivered' } : {}),
      replyTo: typeof reply === 'string' ? reply : null,
      sentAs: { ...body, type: interactive?.type ?? body.type },
      opaque: typeof body.biz_opaque_callback_data === 'string' ? body.biz_opaque_callback_data : null,
    })
    if (seen.type === 'reaction') {
      const { message_id } = body.reaction as { readonly message_id: string }
      const on = world.find(message_id)
      if (on) on.reaction = seen.text === '' ? null : seen.text
    }
    if (closed) failLater(message, 131047, reason)
    else if (contact === undefined) failLater(message, 131026, 'Message undeliverable.')
    // A reaction gets no status after `sent`.
    else
      for (const one of options.statuses ?? ['sent', 'delivered'])
        if (seen.type !== 'reaction' || one === 'sent') status(message, one)
    options.onMessage?.(message)
    return {
      result: {
        messaging_product: 'whatsapp',
        contacts: [{ input: String(body.to ?? body.recipient), wa_id: contact?.waId ?? to }],
        messages: [{ id: message.id, message_status: 'accepted' }],
      },
    }
  }

  const mark = (body: Readonly<Record<string, unknown>>): Answer => {
    const on = String(body.message_id ?? '')
    if (world.find(on)?.fromBot !== false) return refuse(100, 'message_id names no message of a person')
    world.marks.push({ on, typing: body.typing_indicator !== undefined })
    return { result: { success: true } }
  }

  const upload = ({ params, files }: CallBody): Answer => {
    const { file } = files
    if (params.messaging_product !== 'whatsapp' || file === undefined) return refuse(100, 'file is missing')
    const mime = typeof params.type === 'string' ? params.type : file.mime
    return { result: { id: world.addMedia({ mime, bytes: file.bytes, name: file.name }).id } }
  }

  const media = (id: string): Answer => {
    const found = world.media.get(id)
    if (!found) return refuse(100, `Unsupported get request. Object with ID '${id}' does not exist`)
    const url = `${fake.url}/_media/${id}?until=${world.now() + MEDIA_LIFE_MS}`
    const { mime: mime_type, bytes } = found
    return { result: { messaging_product: 'whatsapp', url, mime_type, file_size: bytes.length, id } }
  }

  /** Returns the name of the call in a fault plan (messages, marks, media, number) and its handler. */
  const routeOf = (method: string, path: string, body: CallBody): readonly [string, () => Answer] => {
    if (path === `${FAKE_PHONE_NUMBER_ID}/messages` && method === 'POST')
      return body.params.status === 'read'
        ? ['marks', () => mark(body.params)]
        : ['messages', () => send(body.params)]
    if (path === `${FAKE_PHONE_NUMBER_ID}/media` && method === 'POST') return ['media', () => upload(body)]
    if (path === FAKE_PHONE_NUMBER_ID && method === 'GET')
      return [
        'number',
        () => ({
          result: { id: path, display_phone_number: FAKE_DISPLAY_NUMBER, verified_name: 'Emulated' },
        }),
      ]
    if (/^\d+$/.test(path) && method === 'GET') return ['media', () => media(path)]
    return ['nothing', () => refuse(100, 'Unsupported request', 404)]
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const bearer = request.headers.authorization === `Bearer ${token}` && !expired
    if (url.pathname.startsWith('/_media/')) return file(url, bearer, response)
    const [, path] = /^\/v\d+\.\d\/(.+)$/.exec(url.pathname) ?? []
    if (path === undefined) {
      if (options.otherwise?.(request, response, fake)) return
      return answer(response, refuse(100, 'Unsupported request', 404))
    }
    if (!bearer) return answer(response, refuse(190, 'The access token could not be used', 401))
    const bytes = await bytesOf(request, MAX_BODY_BYTES)
    if (bytes === null) throw new Error('too large')
    const body = readBody(request.headers['content-type'] ?? '', bytes, url.searchParams)
    if (body === null) return answer(response, refuse(100, 'the body is no JSON'))
    const [name, run] = routeOf(request.method ?? 'GET', path, body)
    world.calls.push({ path: name, body: body.params })
    await withFaults(name, run, request, response)
  }

  const withFaults = async (
    name: string,
    run: () => Answer,
    request: IncomingMessage,
    response: ServerResponse,
  ) => {
    const fault = plan.next(name)
    if (fault?.do === 'rate-limit')
      return answer(
        response,
        refuse(130429, 'Cloud API message throughput has been reached.', 429, fault.retryAfter),
      )
    if (fault?.do === 'error' || fault?.do === 'conflict')
      return answer(
        response,
        refuse(131000, 'Message failed to send due to an unknown error.', fault.status ?? 500),
      )
    if (fault?.do === 'drop-request') return void request.socket.destroy()
    if (fault?.do === 'deaf') return
    if (fault?.do === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 300))
    const done = run()
    if (fault?.do === 'drop-response') return void request.socket.destroy()
    if (fault?.do === 'half-open') return
    if (fault?.do === 'malformed') {
      response.writeHead(200, { 'content-type': 'application/json' })
      return void response.end('{"messaging_product":"whatsapp","messages":[{"id":')
    }
    answer(response, done)
  }

  const file = (url: URL, bearer: boolean, response: ServerResponse) => {
    const found = world.media.get(url.pathname.slice('/_media/'.length))
    if (!bearer) return answer(response, refuse(190, 'The access token could not be used', 401))
    if (!found || Number(url.searchParams.get('until')) < world.now())
      return answer(response, refuse(100, 'gone', 404))
    response.writeHead(200, { 'content-type': found.mime, 'content-length': found.bytes.length })
    response.end(found.bytes)
  }

  const server = await openFakeServer({ port: options.port, handle })

  const fake: FakeWhatsApp = {
    url: server.url,
    token,
    appSecret: FAKE_APP_SECRET,
    verifyToken: FAKE_VERIFY_TOKEN,
    phoneNumberId: FAKE_PHONE_NUMBER_ID,
    world,
    webhook,
    get fired() {
      return plan.fired
    },
    person: (about) => createPerson({ world, status, post: (value) => webhook.post(envelope(value)) }, about),
    status,
    envelope,
    expire(next) {
      expired = next
    },
    plan(faults, seed) {
      plan = createFaultPlan(faults, seed)
    },
    async stop() {
      webhook.stop()
      await server.stop()
    },
  }
  return fake
}

function answer(response: ServerResponse, given: Answer): void {
  const refusal = 'refusal' in given ? given.refusal : null
  const retry = refusal?.retryAfter
  response.writeHead(refusal?.status ?? 200, {
    'content-type': 'application/json; charset=UTF-8',
    ...(retry !== undefined && Number.isInteger(retry) ? { 'retry-after': String(retry) } : {}),
  })
  response.end(JSON.stringify('result' in given ? given.result : errorBody(given.refusal)))
}
