// The data endpoints of the page, all under /chat. The page itself is a static file of the server.
import { type Endpoint, type HttpReply, type RawRequest, SwitchboardError } from '../../contract/index.ts'
import type { WebConfig } from './config.ts'
import { createReadingRoutes } from './reading-routes.ts'
import { errorReply, thrownReply } from './render.ts'
import type { EndpointParts, Routes } from './routes.ts'
import { createSignIn } from './sign-in.ts'
import { createSpeakingRoutes } from './speaking-routes.ts'
import { createWebVerifier, type Session } from './verify.ts'

/** The core judges messages, and records refusals with their reason. */
const OPEN_TO_ALL = ['GET /me', 'POST /messages', 'POST /delete', 'POST /tap', 'POST /logout']

export function createWebEndpoint(config: WebConfig, parts: EndpointParts): Endpoint {
  const { deps, windows, files } = parts
  const verifier = createWebVerifier(config, deps)
  const signIn = createSignIn(config, { deps, windows, verifier })

  /** Listening needs the right to talk. A session may outlive that right, but then opens nothing. */
  const mayListen = (session: Session): boolean => deps.mayTalk?.(session.sender) !== false

  const isLive = async (session: Session): Promise<boolean> =>
    mayListen(session) && (await deps.tokens.find(session.token)) !== null

  const routes: Routes = {
    ...createReadingRoutes(config, parts, isLive),
    ...createSpeakingRoutes(config, parts),
    'POST /logout': signIn.leave,
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
    answersRefusals: true,
    // The body contains the proof of a sign-in.
    headDecides: ({ path }) => path !== '/session',
    verify: verifier.verify,
    async handle(verified) {
      const { request } = verified
      try {
        if (request.path === '/session')
          return request.method === 'POST' ? await signIn.enter(request) : notThisMethod('POST')
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

function notThisMethod(allowed: string): HttpReply {
  const reply = errorReply('method_not_allowed', `use ${allowed}`)
  return { ...reply, headers: { ...reply.headers, allow: allowed } }
}
