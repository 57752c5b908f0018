// The emulator's own HTTP endpoints: a page and a few JSON requests for a person or a script. They listen on loopback
// and refuse other sites' scripts.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SwitchboardError } from '../contract/index.ts'
import { type FaultRule, parseFaultRules } from './faults/fault-plan.ts'

/** `answer` returns a page (a string) or JSON. The error `not_found` becomes a 404, all others a 400. */
export function openControlServer(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (path: string) => Promise<unknown>,
): boolean {
  const path = new URL(request.url ?? '/', 'http://fake').pathname
  const ours = path === '/' || path.startsWith('/_')
  if (!ours) return false
  if (!isLocal(request)) {
    reply(response, 403, { ok: false, error: 'only from this machine' })
    return true
  }
  answer(path)
    .then((made) => reply(response, 200, made))
    .catch((thrown: unknown) =>
      reply(response, thrown instanceof SwitchboardError && thrown.code === 'not_found' ? 404 : 400, {
        ok: false,
        error: thrown instanceof Error ? thrown.message : 'malformed',
      }),
    )
  return true
}

export interface ControlServers {
  readonly page: string
  readonly fake: {
    readonly world: { readonly calls: readonly unknown[] }
    readonly fired: readonly unknown[]
    plan(faults: readonly FaultRule[]): void
  }
  /** `GET` of this path with an id shows a chat as people see it. */
  readonly look: { readonly path: string; readonly at: (id: string) => unknown }
  /** Handlers by method and path. `said` is the body of a POST. */
  readonly routes: Readonly<Record<string, (said: unknown) => unknown>>
}

/** Serves what every emulator has (the page, `/_calls`, `/_faults`, a view of a chat) and its own routes. */
export function openControlServers(
  request: IncomingMessage,
  response: ServerResponse,
  { page, fake, look, routes }: ControlServers,
): boolean {
  const all: ControlServers['routes'] = {
    'GET /_calls': () => ({ calls: fake.world.calls, fired: fake.fired }),
    ...routes,
    'POST /_faults'(said) {
      fake.plan(parseFaultRules(said))
      return { ok: true }
    },
  }
  return openControlServer(request, response, async (path) => {
    if (path === '/') return page
    const asked = `${request.method} ${path}`
    if (asked.startsWith(`GET ${look.path}`)) return look.at(asked.slice(`GET ${look.path}`.length))
    const open = Object.hasOwn(all, asked) ? all[asked] : undefined
    if (open !== undefined) return open(request.method === 'POST' ? await readJsonObject(request) : undefined)
    throw new SwitchboardError('not_found', `there is GET ${look.path}ID, ${Object.keys(all).join(', ')}`)
  })
}

function isLocal(request: IncomingMessage): boolean {
  const host = request.headers.host ?? ''
  const { origin } = request.headers
  const local = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(host)
  return local && (origin === undefined || origin === `http://${host}`)
}

export async function readJsonObject(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null)
    throw new SwitchboardError('input_invalid', 'a JSON object is needed')
  return parsed
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const page = typeof body === 'string'
  response.writeHead(status, {
    'content-type': page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
  })
  response.end(page ? body : `${JSON.stringify(body)}\n`)
}
