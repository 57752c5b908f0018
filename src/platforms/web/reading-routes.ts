// What the page reads: the person's own identity, the history, the stream, the connections, and a link for a phone.
import { defined, withoutNulls } from '../../contract/index.ts'
import { mintChatPath, type WebConfig } from './config.ts'
import { parseCursor, readHistory } from './history.ts'
import { errorReply, jsonReply } from './render.ts'
import { type EndpointParts, invalid, maxUploadBytes, type Routes } from './routes.ts'
import { header, type Session } from './verify.ts'

/** `isLive`: whether an open stream may stay open. */
export function createReadingRoutes(
  config: WebConfig,
  parts: EndpointParts,
  isLive: (session: Session) => Promise<boolean>,
): Routes {
  const { deps, windows } = parts
  return {
    'GET /me': async (_, session) =>
      jsonReply(200, {
        sender: session.sender,
        name: session.name,
        integration: config.integration,
        agent: deps.agentAt?.(session.sender) ?? null,
        ...defined({ agent_here: deps.agentHere?.(session.sender) }),
        limits: {
          text_chars: config.maxTextChars,
          upload_bytes: maxUploadBytes(deps),
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

    'GET /connections': async (_, session) => {
      const shown = (await deps.connections?.(session.sender)) ?? null
      if (shown === null) return errorReply('forbidden', 'only who may approve here sees the connections')
      return jsonReply(200, { connections: shown })
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
  }
}
