// The door beside a fake platform's own: a page and a few JSON requests, by which a person or a script acts and looks.
// Loopback only, and closed to the scripts of other sites.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { SwitchboardError } from '../contract/index.ts'

/** `answer` gives a page (a string) or what is sent as JSON; `not_found` is a 404, anything else thrown a 400. */
export function openControlDoor(
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
