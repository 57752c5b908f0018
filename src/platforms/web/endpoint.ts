// The data endpoints of the page, all under /chat. The page itself is a static file that the server hands out.
import {
  asSwitchboardError,
  DEFAULT_TUNABLES,
  defined,
  type Endpoint,
  type HttpReply,
  type PlatformIntake,
  type RawRequest,
  type Received,
  SwitchboardError,
  withoutNulls,
} from '../../contract/index.ts'
import {
  mintChatPath,
  SESSION_COOKIE,
  SESSION_KIND,
  SESSION_TTL_MS,
  TICKET_KIND,
  type WebConfig,
  type WebDeps,
} from './config.ts'
import type { FileShelf } from './files.ts'
import { parseCursor, readHistory } from './history.ts'
import {
  parseDeletion,
  parseJson,
  parseMessage,
  parseTap,
  parseTicket,
  toInboundDeletion,
  toInboundMessage,
  toInboundTap,
  toUnparsable,
} from './parse.ts'
import { errorReply, jsonReply, receivedReply, thrownReply, wireFile } from './render.ts'
import { cameOverHttps, createWebVerifier, header, type Session } from './verify.ts'
import type { Windows } from './windows.ts'

export interface EndpointParts {
  readonly deps: WebDeps
  readonly windows: Windows
  readonly files: FileShelf
  /** Null until the platform was started. */
  readonly intake: () => PlatformIntake | null
}

type Route = (request: RawRequest, session: Session) => Promise<HttpReply>

/** What is said is judged by the river, which records who was refused and why. */
const OPEN_TO_ALL = ['GET /me', 'POST /messages', 'POST /delete', 'POST /tap', 'POST /logout']

const LOOKED_BACK = 200

const STALE_LINK = 'this link was used already or is too old'

export function createWebEndpoint(config: WebConfig, parts: EndpointParts): Endpoint {
  const { deps, windows, files } = parts
  const verifier = createWebVerifier(config, deps)
  // A file is one body: what the server takes.
  const maxUploadBytes = () => deps.maxBodyBytes?.() ?? DEFAULT_TUNABLES.maxBodyBytes

  const routes: Readonly<Record<string, Route>> = {
    'GET /me': async (_, session) =>
      jsonReply(200, {
        sender: session.sender,
        name: session.name,
        integration: config.integration,
        agent: deps.agentAt?.(session.sender) ?? null,
        ...defined({ agent_here: deps.agentHere?.(session.sender) }),
        limits: {
          text_chars: config.maxTextChars,
          upload_bytes: maxUploadBytes(),
          attachments: config.maxAttachments,
        },
      }),

    'GET /history': async (request, session) => {
      const asked = request.query.get('before')
      const before = parseCursor(asked)
      if (asked !== null && before === null) throw invalid('before is not a cursor of this chat')
      const limit = Number(request.query.get('limit') ?? 50)
      if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw invalid('limit must be 1 to 200')
      return jsonReply(200, await readHistory(deps.transcript, session.sender, { before, limit }))
    },

    'GET /stream': async (request, session) => {
      const asked = header(request, 'last-event-id') ?? request.query.get('after')
      const cursor = parseCursor(asked)
      if (asked !== null && cursor === null) throw invalid('after is not a cursor of this chat')
      return {
        status: 200,
        headers: {
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store',
          'x-accel-buffering': 'no',
          'x-content-type-options': 'nosniff',
        },
        stream: (sink) => windows.open(session.sender, cursor, sink, () => isLive(session)),
      }
    },

    'POST /messages': async (request, session) => {
      const order = await read(request, session, (body) => parseMessage(body, config))
      const attachments = await Promise.all(
        order.attachments.map(async (id) => {
          const file = await files.own(session.sender, id)
          if (file === null)
            throw invalid(
              `attachments: there is no file ${id}`,
              'upload it again: it waited for its message too long, or others needed the room',
            )
          return file
        }),
      )
      const event = toInboundMessage(order, session, { at: deps.clock.now(), attachments })
      // Before it is received: a crash in between keeps a file too long, not too short.
      const taken = await files.take(order.attachments)
      return (await receive(event, session, () => files.giveBack(taken))).reply
    },

    'POST /delete': async (request, session) => {
      const id = await read(request, session, parseDeletion)
      const attached = await attachmentsOf(session.sender, id)
      const { received, reply } = await receive(toInboundDeletion(id, session, deps.clock.now()), session)
      // No message names them any more: they go as what was uploaded for nothing.
      if ((received.withdrawn ?? 0) > 0) await files.giveBack(attached)
      return reply
    },

    'GET /connections': async (_, session) => {
      const shown = (await deps.connections?.(session.sender)) ?? null
      if (shown === null) return errorReply('forbidden', 'only who may approve here sees the connections')
      return jsonReply(200, { connections: shown })
    },

    'POST /tap': async (request, session) => {
      const order = await read(request, session, parseTap)
      return (await receive(toInboundTap(order, session, deps.clock.now()), session)).reply
    },

    'POST /upload': async (request, session) => {
      if (request.body.byteLength === 0) throw invalid('the file is empty')
      if (request.body.byteLength > maxUploadBytes()) {
        throw new SwitchboardError('too_large', `a file may have ${maxUploadBytes()} bytes`)
      }
      const saved = await files.save({
        sender: session.sender,
        name: request.query.get('name') ?? 'file',
        mime: header(request, 'content-type'),
        bytes: request.body,
        loose: true,
      })
      return jsonReply(200, { ...wireFile(saved), ref: saved.ref })
    },

    'POST /link': async (_, session) => {
      const minted = await mintChatPath(deps.tokens, {
        integration: config.integration,
        sender: session.sender,
        ...withoutNulls({ name: session.name }),
      })
      return jsonReply(200, {
        link: `${config.publicUrl ?? ''}${minted.path}`,
        ...defined({ reachable: deps.reachable?.() }),
        expires_at: minted.expiresAt === null ? null : new Date(minted.expiresAt).toISOString(),
      })
    },

    'POST /logout': async (request, session) => {
      await deps.tokens.consume(session.token)
      await windows.recheck(session.sender)
      return jsonReply(200, { ok: true }, { 'set-cookie': cookie('', 0, cameOverHttps(request)) })
    },
  }

  /** The gate of speaking is that of listening: a session outlives the right of its sender, but opens nothing then. */
  const mayListen = (session: Session): boolean => deps.mayTalk?.(session.sender) !== false

  const isLive = async (session: Session): Promise<boolean> =>
    mayListen(session) && (await deps.tokens.find(session.token)) !== null

  /** Reads what a person's page sent. What cannot be read is recorded as such before it is refused. */
  async function read<Order>(
    request: RawRequest,
    session: Session,
    parse: (body: Readonly<Record<string, unknown>>) => Order,
  ): Promise<Order> {
    try {
      return parse(parseJson(request.body, header(request, 'content-type')))
    } catch (thrown) {
      const problem = asSwitchboardError(thrown)
      if (problem.code === 'input_invalid') {
        await parts.intake()?.receive([toUnparsable(problem.message, session, deps.clock.now())])
      }
      throw problem
    }
  }

  async function receive(
    event: Parameters<PlatformIntake['receive']>[0][number],
    session: Session,
    refused: () => Promise<void> = async () => undefined,
  ): Promise<{ readonly received: Received; readonly reply: HttpReply }> {
    const intake = parts.intake()
    if (intake === null) throw new SwitchboardError('draining', 'the chat is not open right now')
    const [received]: readonly (Received | undefined)[] = await intake.receive([event])
    if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no answer')
    if (received.state === 'refused') await refused()
    windows.wake(session.sender)
    return { received, reply: receivedReply(received) }
  }

  /** Among the latest: what is still queued is not old. */
  async function attachmentsOf(sender: string, messageId: string): Promise<readonly string[]> {
    const said = await deps.transcript({ conversation: sender, direction: 'in', limit: LOOKED_BACK })
    const found = said.find((one) => one.platformMessageId === messageId)
    return (found?.attachments ?? []).map(({ ref }) => ref)
  }

  /** A ticket opens one session, once. It is looked at before it is used up, so another kind of token is not burnt. */
  async function enter(request: RawRequest): Promise<HttpReply> {
    if (request.method !== 'POST') return notThisMethod('POST')
    const ticket = parseTicket(parseJson(request.body, header(request, 'content-type')))
    const seen = await deps.tokens.find(ticket)
    const right = seen?.kind === TICKET_KIND && seen.scope.integration === config.integration
    const used = right ? await deps.tokens.consume(ticket) : null
    if (used === null) return errorReply('gone', STALE_LINK, 'ask for a fresh one: switchboard link')
    const sender = used.scope.sender || 'owner'
    const name = used.scope.name
    const minted = await deps.tokens.mint({
      kind: SESSION_KIND,
      scope: { integration: config.integration, sender, ...defined({ name }) },
      ttlMs: SESSION_TTL_MS,
    })
    await endReplaced(request)
    return jsonReply(
      200,
      { ok: true, sender },
      { 'set-cookie': cookie(minted.token, SESSION_TTL_MS / 1_000, cameOverHttps(request)) },
    )
  }

  /** The new cookie takes the old one's place: a session nobody can sign out of any more must not live on. */
  async function endReplaced(request: RawRequest): Promise<void> {
    const session = await verifier.sessionIn(request)
    if (session === null) return
    await deps.tokens.consume(session.token)
    await windows.recheck(session.sender)
  }

  async function route(request: RawRequest, session: Session): Promise<HttpReply> {
    const name = `${request.method} ${request.path}`
    if (!OPEN_TO_ALL.includes(name) && !mayListen(session))
      return errorReply('forbidden', 'you may not speak here any more, so nothing is shown either')
    const found = routes[name]
    if (found !== undefined) return found(request, session)
    const file = /^\/files\/([0-9a-f]{32})$/.exec(request.path)?.[1]
    if (file !== undefined && request.method === 'GET') {
      return (await files.reply(file)) ?? errorReply('not_found', 'there is no such file')
    }
    const other = request.method === 'GET' ? 'POST' : 'GET'
    if (routes[`${other} ${request.path}`] !== undefined) return notThisMethod(other)
    return errorReply('not_found', 'the chat has no such address')
  }

  return {
    // Who enters proves it with what the body says.
    headDecides: ({ path }) => path !== '/session',
    verify: verifier.verify,
    async handle(verified) {
      const { request } = verified
      try {
        if (request.path === '/session') return await enter(request)
        const session = verifier.sessionOf(verified)
        if (session === null) return errorReply('unauthorized', 'this browser has no session')
        return await route(request, session)
      } catch (thrown) {
        if (!(thrown instanceof SwitchboardError)) {
          deps.log.error({ path: request.path, err: String(thrown) }, 'a chat request failed')
        }
        return thrownReply(thrown)
      }
    },
  }
}

function cookie(value: string, maxAgeSeconds: number, secure: boolean): string {
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure ? '; Secure' : ''}`
  return `${SESSION_COOKIE}=${value}; ${flags}`
}

function notThisMethod(allowed: string): HttpReply {
  const reply = errorReply('method_not_allowed', `use ${allowed}`)
  return { ...reply, headers: { ...reply.headers, allow: allowed } }
}

function invalid(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('input_invalid', message, defined({ hint }))
}
