// A fake Slack on loopback that speaks the real wire: Web API, Socket Mode, Events API and files. A fault plan makes it
// fail. Tests and `switchboard emulate slack` use it. `person(…)` scripts the side of a person.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bytesOf, openFakeServer } from '../fake-server.ts'
import { createFaultPlan, type FaultPlan, type FaultRule } from '../faults/fault-plan.ts'
import { readBody } from '../request-body.ts'
import { createEventsApi, type EventsApi } from './events-api.ts'
import { type Answer, fail } from './method.ts'
import { createPerson, type Person, type PersonOptions } from './person.ts'
import { createSocketMode, type SocketMode } from './socket-mode.ts'
import { createTiers, runMethod } from './web-api.ts'
import { createWorld, type FakeChannel, GENERAL_ID, type World } from './world.ts'

export interface FakeSlackOptions {
  readonly botToken?: string
  readonly appToken?: string
  readonly signingSecret?: string
  readonly botName?: string
  readonly port?: number
  /** The scopes of the bot. If absent, it has all. */
  readonly scopes?: readonly string[]
  /** The event types that the app subscribed to. If absent, all. */
  readonly subscriptions?: readonly string[]
  readonly faults?: readonly FaultRule[]
  readonly seed?: number
  readonly now?: () => number
  /** True enforces the rate limits that Slack has for each method and for posting. */
  readonly limits?: boolean
  readonly ackMs?: number
  readonly pingMs?: number
  readonly retryMs?: readonly number[]
  /** True is a server that does not report the granted scopes. */
  readonly silentScopes?: boolean
  /** True is a server without cursors, with only `has_more`. */
  readonly cursorless?: boolean
  /** Names of methods that this server does not have. */
  readonly missing?: readonly string[]
  /** Puts a proxy in front of Socket Mode. It returns the address that the app receives. */
  readonly socketThrough?: (url: string) => Promise<string>
  /** Runs after each call of the Web API. */
  readonly onCall?: (method: string, params: Readonly<Record<string, unknown>>, answer: Answer) => void
  /** Answers requests that are not Slack's, such as a control page. It returns true when it answered. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse, fake: FakeSlack) => boolean
}

export interface FakeSlack {
  readonly url: string
  /** The value for the setting `api_url`. */
  readonly apiUrl: string
  readonly botToken: string
  readonly appToken: string
  readonly signingSecret: string
  readonly world: World
  readonly socket: SocketMode
  readonly http: EventsApi
  readonly fired: FaultPlan['fired']
  /** Refuses every call with this error, as with a revoked token. Null ends that. */
  refuseTokens(error: string | null): void
  person(options?: PersonOptions): Person
  /** Delivers a body of the Events API with any event. */
  push(event: Readonly<Record<string, unknown>>, envelope?: Readonly<Record<string, unknown>>): string
  plan(faults: readonly FaultRule[], seed?: number): void
  /** Makes all cursors invalid that were given out before. */
  forgetCursors(): void
  /** Breaks every open connection, as a network failure does. */
  cut(): void
  stop(): Promise<void>
}

export const FAKE_BOT_TOKEN = 'xoxb-7000000001-emulated-bot-token'
export const FAKE_APP_TOKEN = 'xapp-1-A0SWBAPP1-emulated-app-token'
export const FAKE_SIGNING_SECRET = 'emulated0signing0secret0000000000'
const MAX_BODY_BYTES = 60 * 1_048_576
const ALL_SCOPES = (
  'app_mentions:read channels:history channels:read groups:history groups:read im:history im:read im:write ' +
  'mpim:history mpim:read mpim:write chat:write reactions:read reactions:write files:read files:write users:read ' +
  'commands assistant:write'
).split(' ')

export async function createFakeSlack(options: FakeSlackOptions = {}): Promise<FakeSlack> {
  const botToken = options.botToken ?? FAKE_BOT_TOKEN
  const appToken = options.appToken ?? FAKE_APP_TOKEN
  const signingSecret = options.signingSecret ?? FAKE_SIGNING_SECRET
  const now = options.now ?? Date.now
  const scopes = new Set(options.scopes ?? ALL_SCOPES)
  const world = createWorld({ now, botName: options.botName ?? 'switchboard' })
  world.addChannel({ id: GENERAL_ID, name: 'general' })
  const tiers = createTiers(now)
  let plan = createFaultPlan(options.faults, options.seed)
  let revoked: string | null = null
  let cursors = 0
  let base = ''
  let socketBase = ''

  const socket = createSocketMode({
    ackMs: options.ackMs ?? 3_000,
    pingMs: options.pingMs ?? 10_000,
    offlineRetryMs: options.retryMs ?? [60_000, 240_000],
    plan: () => plan,
    onAnswer: (payload, answer) => showAnswer(payload, answer),
  })
  const http = createEventsApi({
    now,
    retryMs: options.retryMs ?? [1_000, 60_000, 240_000],
    answerMs: options.ackMs ?? 3_000,
    plan: () => plan,
  })

  const push: FakeSlack['push'] = (event, envelope = {}) => {
    const body = {
      token: 'emulated-verification-token',
      team_id: world.team.id,
      context_team_id: world.team.id,
      context_enterprise_id: null,
      api_app_id: world.appId,
      event,
      type: 'event_callback',
      event_id: world.nextId('Ev'),
      event_time: Math.floor(now() / 1_000),
      authorizations: [
        {
          enterprise_id: null,
          team_id: world.team.id,
          user_id: world.bot.id,
          is_bot: true,
          is_enterprise_install: false,
        },
      ],
      is_ext_shared_channel: false,
      event_context: world.nextId('4-'),
      ...envelope,
    }
    if (http.target === null) return socket.deliver('events_api', body)
    http.event(body)
    return body.event_id
  }

  /** Shows the app's immediate answer to a command to the person who sent it. */
  const showAnswer = (command: unknown, answer: unknown) => {
    const { channel_id, user_id } = command as Readonly<Record<string, unknown>>
    const { text } = (answer ?? {}) as { readonly text?: unknown }
    if (typeof text !== 'string' || text === '' || typeof channel_id !== 'string') return
    world.ephemerals.push({ channel: channel_id, user: String(user_id), text })
  }

  /** Delivers events only of channels that the bot is in, and only those that the app subscribed to. */
  const emit = (channel: FakeChannel, event: Readonly<Record<string, unknown>>) => {
    const type = String(event.type)
    const name =
      type === 'message'
        ? `message.${channel.kind === 'channel' ? 'channels' : channel.kind === 'group' ? 'groups' : channel.kind}`
        : type
    if (options.subscriptions !== undefined && !options.subscriptions.includes(name)) return
    if (channel.members.has(world.bot.id)) push(event, channel.shared ? { is_ext_shared_channel: true } : {})
  }

  const person: FakeSlack['person'] = (about) =>
    createPerson(
      {
        world,
        base: () => base,
        emit,
        interact(payload) {
          if (http.target === null) return socket.deliver('interactive', payload)
          void http.form({ payload: JSON.stringify(payload) })
          return ''
        },
        command(fields) {
          if (http.target === null) return socket.deliver('slash_commands', fields)
          void http.form(fields).then(({ body }) => body !== '' && showAnswer(fields, JSON.parse(body)))
          return ''
        },
      },
      about,
    )

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const [, method] = /^\/api\/([\w.]+)$/.exec(url.pathname) ?? []
    if (method !== undefined) return call(method, url, request, response)
    const [, upload] = /^\/upload\/v1\/(\w+)$/.exec(url.pathname) ?? []
    if (upload !== undefined) return takeUpload(upload, request, response)
    if (url.pathname.startsWith('/files-pri/')) return giveFile(url.pathname, request, response)
    if (url.pathname.startsWith('/response/')) return takeResponse(url.pathname, request, response)
    if (options.otherwise?.(request, response, fake)) return
    response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not found</html>')
  }

  const call = async (method: string, url: URL, request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('date', new Date(now()).toUTCString())
    const bytes = await bytesOf(request, MAX_BODY_BYTES)
    const body =
      bytes === null ? null : readBody(request.headers['content-type'] ?? '', bytes, url.searchParams)
    if (body === null) return send(response, fail('invalid_json'))
    const fault = plan.next(method)
    if (fault?.do === 'rate-limit') return busy(response, fault.retryAfter ?? 1)
    if (fault?.do === 'error')
      return void response.writeHead(fault.status ?? 500).end('<html>upstream error</html>')
    if (fault?.do === 'conflict') return send(response, fail('fatal_error'))
    if (fault?.do === 'drop-request') return void request.socket.destroy()
    if (fault?.do === 'deaf') return
    if (fault?.do === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 300))
    const seconds = options.limits ? tiers(method, String(body.params.channel ?? '')) : null
    if (seconds !== null) return busy(response, seconds)
    const answer = carryOut(method, body.params, request)
    options.onCall?.(method, body.params, answer)
    if (fault?.do === 'drop-response') return void request.socket.destroy()
    if (fault?.do === 'half-open') return
    if (fault?.do === 'malformed')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":tr')
    send(response, options.cursorless ? withoutCursor(answer) : answer, options.silentScopes ? null : scopes)
  }

  const carryOut = (
    method: string,
    params: Readonly<Record<string, unknown>>,
    request: IncomingMessage,
  ): Answer => {
    const header = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    const token = header ?? (typeof params.token === 'string' ? params.token : '')
    world.calls.push({ method, params })
    if (token === '') return fail('not_authed')
    if (revoked !== null) return fail(revoked)
    if (method === 'apps.connections.open') {
      if (header !== appToken) return fail(header === botToken ? 'not_allowed_token_type' : 'invalid_auth')
      return { ok: true, url: socketBase.replace(/^http/, 'ws') + socket.ticket() }
    }
    if (token !== botToken) return fail(token === appToken ? 'not_allowed_token_type' : 'invalid_auth')
    if (options.missing?.includes(method)) return fail('unknown_method', { req_method: method })
    // File URLs use the host of the request, so a proxy in front of the fake sees uploads too.
    const asked = request.headers.host === undefined ? base : `http://${request.headers.host}`
    return runMethod(method, { world, params, base: asked, now, scopes, emit, cursors })
  }

  const takeUpload = async (id: string, request: IncomingMessage, response: ServerResponse) => {
    const file = world.files.get(id)
    const bytes = await bytesOf(request, MAX_BODY_BYTES)
    if (!file || bytes === null) return void response.writeHead(404).end()
    const type = request.headers['content-type'] ?? ''
    const form = type.startsWith('multipart/') ? readBody(type, bytes, new URLSearchParams()) : null
    file.bytes = Object.values(form?.files ?? {})[0]?.bytes ?? bytes
    file.uploaded = true
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`OK - ${file.bytes.length}`)
  }

  const giveFile = (path: string, request: IncomingMessage, response: ServerResponse) => {
    const file = world.files.get(/^\/files-pri\/\w+-(\w+)\//.exec(path)?.[1] ?? '')
    if (!file) return void response.writeHead(404).end()
    if (request.headers.authorization !== `Bearer ${botToken}` || !scopes.has('files:read'))
      // Slack does not refuse here. It answers with its sign-in page.
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!DOCTYPE html><html>Sign in to Slack</html>')
    if (file.redirect !== undefined) return void response.writeHead(302, { location: file.redirect }).end()
    response
      .writeHead(200, { 'content-type': file.mimetype, 'content-length': file.bytes.length })
      .end(file.bytes)
  }

  const takeResponse = async (path: string, request: IncomingMessage, response: ServerResponse) => {
    const [, , channel = '', , user = ''] = path.split('/')
    const said = JSON.parse((await bytesOf(request, MAX_BODY_BYTES))?.toString('utf8') ?? '{}') as {
      readonly text?: unknown
    }
    world.ephemerals.push({ channel, user, text: String(said.text ?? '') })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  }

  const server = await openFakeServer({
    port: options.port,
    handle,
    upgrade: (...given) => socket.upgrade(...given),
  })
  base = server.url
  socketBase = (await options.socketThrough?.(base)) ?? base

  const fake: FakeSlack = {
    url: base,
    apiUrl: `${base}/api/`,
    botToken,
    appToken,
    signingSecret,
    world,
    socket,
    http,
    get fired() {
      return plan.fired
    },
    refuseTokens(error) {
      revoked = error
    },
    person,
    push,
    plan(faults, seed) {
      plan = createFaultPlan(faults, seed)
    },
    forgetCursors() {
      cursors += 1
    },
    cut: server.cut,
    async stop() {
      socket.stop()
      http.stop()
      await server.stop()
    },
  }
  return fake
}

function busy(response: ServerResponse, seconds: number): void {
  response.writeHead(429, { 'content-type': 'application/json', 'retry-after': String(seconds) })
  response.end(JSON.stringify(fail('ratelimited')))
}

function withoutCursor({ response_metadata: _, ...answer }: Answer): Answer {
  return answer
}

function send(
  response: ServerResponse,
  answer: Answer,
  scopes: ReadonlySet<string> | null = new Set(),
): void {
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    ...(scopes === null ? {} : { 'x-oauth-scopes': [...scopes].join(',') }),
  })
  response.end(JSON.stringify(answer))
}
