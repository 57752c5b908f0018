// A fake Discord on loopback that speaks the real wire: REST, the gateway, interactions and files. A fault plan makes
// it fail. Tests and `switchboard emulate discord` use it. `person(…)` scripts the side of a person.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined } from '../../contract/index.ts'
import { bytesOf, openFakeServer } from '../fake-server.ts'
import { createFaultPlan, type FaultPlan, type FaultRule } from '../faults/fault-plan.ts'
import { readBody } from '../request-body.ts'
import { createFakeGateway, type FakeGateway } from './gateway.ts'
import { INTERACTION_ROUTES } from './interaction-routes.ts'
import { MESSAGE_ROUTES } from './message-routes.ts'
import { OTHER_ROUTES } from './other-routes.ts'
import { createPerson, type Person, type PersonOptions } from './person.ts'
import { createRestLimits } from './rest-limits.ts'
import { type Answer, type OpenInteraction, RIGHTS, type Route, type RouteContext } from './route.ts'
import { createWorld, type FakeChannel, memberFacts, type World } from './world.ts'

export interface FakeDiscordOptions {
  readonly token?: string
  readonly botName?: string
  readonly port?: number
  readonly faults?: readonly FaultRule[]
  readonly seed?: number
  readonly now?: () => number
  /** True enforces the rate limits that Discord has for each route. */
  readonly limits?: boolean
  readonly heartbeatMs?: number
  /** The number of dispatches of a session that a resume can replay. */
  readonly buffer?: number
  /** How long a session outlives its connection. */
  readonly sessionMs?: number
  readonly shards?: number
  /** Whether the Message Content intent is on for the application. The default is true. */
  readonly contentIntent?: boolean
  /** How long an interaction waits for its first answer. */
  readonly deadlineMs?: number
  /** Names of routes that this server does not have. */
  readonly missing?: readonly string[]
  /** Puts a proxy in front of the gateway. It returns the address that the bot receives. */
  readonly socketThrough?: (url: string) => Promise<string>
  /** Runs after each call. */
  readonly onCall?: (name: string, body: Readonly<Record<string, unknown>>, answer: Answer) => void
  /** Answers requests that are not Discord's, such as a control page. It returns true when it answered. */
  readonly otherwise?: (request: IncomingMessage, response: ServerResponse, fake: FakeDiscord) => boolean
}

export interface FakeDiscord {
  readonly url: string
  /** The value for the setting `api_url`. */
  readonly apiUrl: string
  readonly token: string
  readonly world: World
  readonly gateway: FakeGateway
  readonly interactions: ReadonlyMap<string, OpenInteraction>
  readonly fired: FaultPlan['fired']
  /** `true` resets the token: requests and connections with it are refused. */
  revoke(revoked: boolean): void
  /** Switches the Message Content intent on or off. */
  switchContent(on: boolean): void
  /** Removes the bot from its server. */
  kick(): void
  deleteChannel(id: string): void
  person(options?: PersonOptions): Person
  plan(faults: readonly FaultRule[], seed?: number): void
  /** Breaks every open connection, as a network failure does. */
  cut(): void
  stop(): Promise<void>
}

export const FAKE_DISCORD_TOKEN = 'OTAwMDAwMDAwMDAwMDAwMDAx.Emulat.ed-bot-token-000000000000000'
const MAX_BODY_BYTES = 120 * 1_048_576
const ROUTES = Object.entries({ ...MESSAGE_ROUTES, ...OTHER_ROUTES, ...INTERACTION_ROUTES }).map(
  ([name, [verb, path, route]]) => ({ name, verb, pattern: patternOf(path), route }),
)

function patternOf(path: string): RegExp {
  const parts = path.split('/').map((part) => {
    if (part === ':id') return '\\d{1,20}'
    return part.startsWith(':') ? '[^/]+' : part.replace('@', '(?:@|%40)')
  })
  return new RegExp(`^${parts.join('/')}$`)
}

export async function createFakeDiscord(options: FakeDiscordOptions = {}): Promise<FakeDiscord> {
  const token = options.token ?? FAKE_DISCORD_TOKEN
  const now = options.now ?? Date.now
  const world = createWorld({ now, botName: options.botName ?? 'switchboard' })
  const limit = createRestLimits(now, options.limits === true)
  const nonces: RouteContext['nonces'] = new Map()
  const interactions = new Map<string, OpenInteraction>()
  let plan = createFaultPlan(options.faults, options.seed)
  let revoked = false
  let contentIntent = options.contentIntent ?? true
  let base = ''
  let socketBase = ''

  const gateway = createFakeGateway({
    token: () => (revoked ? '' : token),
    heartbeatMs: options.heartbeatMs ?? 41_250,
    buffer: options.buffer ?? 1_000,
    sessionMs: options.sessionMs ?? 180_000,
    shards: options.shards ?? 1,
    contentIntent: () => contentIntent,
    now,
    plan: () => plan,
    world,
    base: () => socketBase,
  })

  /** Sends an event only if the bot sees the channel. A message in a server carries its member. */
  const emit: RouteContext['emit'] = (channel, type, data) => {
    const guild = channel?.guild_id
    if (channel !== null && (world.rights(channel) & RIGHTS.view) === 0n) return
    const author = data.author as { readonly id: string } | undefined
    const isMessage = type === 'MESSAGE_CREATE' || type === 'MESSAGE_UPDATE'
    const member =
      guild !== undefined && isMessage && author !== undefined && data.webhook_id === undefined
        ? { member: memberFacts(world.guild, author.id) }
        : {}
    const where = defined({ guild_id: guild })
    const { reactions: _, ...told } = data
    gateway.dispatch(
      type,
      structuredClone({ ...where, ...member, ...told }),
      where.guild_id ? { guild: where.guild_id } : {},
    )
  }

  const contextFor = (path: string, query: URLSearchParams): Omit<RouteContext, 'body' | 'files'> => ({
    world,
    path: path.split('/').slice(1),
    query,
    now,
    base,
    emit,
    nonces,
    interactions,
    contentIntent,
    scope: (channel: FakeChannel) => defined({ guild: channel.guild_id }),
    gateway: {
      url: `${socketBase.replace(/^http/, 'ws')}/gateway`,
      shards: options.shards ?? 1,
      startsLeft: gateway.startsLeft,
      token,
    },
    deadlineMs: options.deadlineMs ?? 3_000,
  })

  const person: FakeDiscord['person'] = (about) =>
    createPerson(
      {
        world,
        emit,
        base: () => base,
        interact(interaction) {
          const open: OpenInteraction = {
            id: interaction.id,
            token: interaction.token,
            channel: interaction.channel_id,
            user: interaction.by,
            at: now(),
            answered: null,
            ephemeral: false,
            original: null,
            ...defined({ message: interaction.on }),
          }
          interactions.set(open.id, open)
          const guild = world.channel(open.channel)?.guild_id
          gateway.dispatch('INTERACTION_CREATE', interaction.payload, defined({ guild }))
          return open
        },
      },
      about,
    )

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    const [, path] = /^\/api(?:\/v10)?(\/.*)$/.exec(url.pathname) ?? []
    if (path !== undefined) return call(path, url, request, response)
    const [, file] = /^\/attachments\/\d+\/(\d+)\//.exec(url.pathname) ?? []
    if (file !== undefined) return giveFile(file, url, response)
    if (options.otherwise?.(request, response, fake)) return
    response.writeHead(404, { 'content-type': 'text/html' }).end('<html>Not found</html>')
  }

  const call = async (path: string, url: URL, request: IncomingMessage, response: ServerResponse) => {
    const found = ROUTES.find(({ verb, pattern }) => verb === request.method && pattern.test(path))
    const bytes = await bytesOf(request, MAX_BODY_BYTES)
    const read = bytes === null ? null : readPayload(request.headers['content-type'] ?? '', bytes)
    if (read === null)
      return send(response, { status: 400, body: { message: '400: Bad Request', code: 50109 } })
    const name = found?.name ?? `${request.method} ${path}`
    const fault = plan.next(name)
    const major = /^\/(?:channels|guilds)\/(\d+)/.exec(path)?.[1] ?? ''
    const { headers, waitS } = limit(name, major)
    if (fault?.do === 'rate-limit') return busy(response, fault.retryAfter ?? 1, headers)
    if (fault?.do === 'error')
      return void response
        .writeHead(fault.status ?? 500, { 'content-type': 'text/html' })
        .end('<html>upstream error</html>')
    if (fault?.do === 'conflict') return void response.writeHead(409).end('<html>conflict</html>')
    if (fault?.do === 'drop-request') return void request.socket.destroy()
    if (fault?.do === 'deaf') return
    if (fault?.do === 'slow') await new Promise((resolve) => setTimeout(resolve, fault.delayMs ?? 300))
    if (waitS !== null) return busy(response, waitS, headers)
    const answer = carryOut(found, path, url, request, read)
    world.calls.push({ name, path, body: read.body, status: answer.status })
    options.onCall?.(name, read.body, answer)
    if (fault?.do === 'drop-response') return void request.socket.destroy()
    if (fault?.do === 'half-open') return
    if (fault?.do === 'malformed')
      return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"12')
    send(response, answer, headers)
  }

  const carryOut = (
    found: { readonly name: string; readonly route: Route } | undefined,
    path: string,
    url: URL,
    request: IncomingMessage,
    read: Pick<RouteContext, 'body' | 'files'>,
  ): Answer => {
    // The token in the path authorises answers to interactions.
    const isOpen = path.startsWith('/interactions/') || path.startsWith('/webhooks/')
    const isKnown = request.headers.authorization === `Bot ${token}` && !revoked
    if (!isOpen && !isKnown) return { status: 401, body: { message: '401: Unauthorized', code: 0 } }
    if (found === undefined || options.missing?.includes(found.name))
      return { status: 404, body: { message: '404: Not Found', code: 0 } }
    return found.route({ ...contextFor(path, url.searchParams), ...read })
  }

  const giveFile = (id: string, url: URL, response: ServerResponse) => {
    const file = world.files.get(id)
    // The URL is signed and expires.
    const ends = Number.parseInt(url.searchParams.get('ex') ?? '0', 16) * 1_000
    if (file === undefined || ends < now())
      return void response.writeHead(404).end('This content is no longer available.')
    response
      .writeHead(200, { 'content-type': file.mime, 'content-length': file.bytes.length })
      .end(file.bytes)
  }

  const server = await openFakeServer({
    port: options.port,
    handle,
    upgrade: (...given) => gateway.upgrade(...given),
  })
  base = server.url
  socketBase = (await options.socketThrough?.(base)) ?? base

  const fake: FakeDiscord = {
    url: base,
    apiUrl: `${base}/api`,
    token,
    world,
    gateway,
    interactions,
    get fired() {
      return plan.fired
    },
    revoke(now) {
      revoked = now
      if (now) gateway.close(4004)
    },
    switchContent(on) {
      contentIntent = on
    },
    kick() {
      gateway.dispatch('GUILD_DELETE', { id: world.guild.id }, { guild: world.guild.id })
      world.kicked = true
    },
    deleteChannel(id) {
      const channel = world.channel(id)
      if (channel === undefined) return
      const { guild_id, type, parent_id } = channel
      emit(channel, type === 11 ? 'THREAD_DELETE' : 'CHANNEL_DELETE', { id, guild_id, type, parent_id })
      world.removeChannel(id)
    },
    person,
    plan(faults, seed) {
      plan = createFaultPlan(faults, seed)
    },
    cut: server.cut,
    async stop() {
      gateway.stop()
      await server.stop()
    },
  }
  return fake
}

/** Reads JSON, or a form with `payload_json` and files. Returns null for a body that it cannot read. */
function readPayload(type: string, bytes: Buffer): Pick<RouteContext, 'body' | 'files'> | null {
  if (type.startsWith('application/json') && bytes.toString('latin1').trimStart().startsWith('[')) {
    try {
      return { body: { list: JSON.parse(bytes.toString('utf8')) as unknown }, files: [] }
    } catch {
      return null
    }
  }
  const read = readBody(type === '' ? 'application/json' : type, bytes, new URLSearchParams())
  if (read === null) return null
  const payload = read.params.payload_json
  const files = Object.entries(read.files)
    .filter(([name]) => name !== 'payload_json')
    .map(([, file]) => file)
  const body = typeof payload === 'object' && payload !== null ? payload : read.params
  return { body: body as Readonly<Record<string, unknown>>, files }
}

function busy(response: ServerResponse, seconds: number, headers: Readonly<Record<string, string>>): void {
  response.writeHead(429, {
    'content-type': 'application/json',
    ...headers,
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset-after': String(seconds),
    'x-ratelimit-scope': 'user',
    'retry-after': String(Math.ceil(seconds)),
  })
  response.end(
    JSON.stringify({ message: 'You are being rate limited.', retry_after: seconds, global: false }),
  )
}

function send(
  response: ServerResponse,
  answer: Answer,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (answer.body === undefined) return void response.writeHead(answer.status, headers).end()
  response.writeHead(answer.status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(answer.body))
}
