// Serves operations under /api. It is loaded with its schemas at the first call, so that the start stays fast.
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import {
  type Action,
  type Clock,
  type HttpReply,
  type Principal,
  SwitchboardError,
} from '../../contract/index.ts'
import type { ServerDeps } from '../deps.ts'
import { json, methodNotAllowed, notFound } from '../reply.ts'
import { openApi } from './openapi.ts'
import { type ServedOperation, wholeReply } from './operation.ts'

export interface ApiRequest {
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>
  /** The decoded path's segments, `api` first. */
  readonly segments: readonly string[]
  readonly query: URLSearchParams
  readonly body: Buffer
  readonly principal: Principal
  readonly via: 'api' | 'cli' | 'console'
}

export type Api = (call: ApiRequest) => Promise<HttpReply>

export function createApi(
  deps: { readonly clock: Pick<Clock, 'now'>; readonly authorize: ServerDeps['authorize'] },
  operations: readonly ServedOperation[],
): Api {
  const description: ServedOperation = {
    method: 'GET',
    path: '/api/openapi.json',
    summary: 'This description.',
    action: 'admin.read',
    run: async () => openApi(routes),
  }
  // A literal segment beats a parameter, wherever the operation stands in the list.
  const routes = [...operations, description].toSorted((a, b) => parameters(a) - parameters(b))
  return async (call) => {
    const matches = routes.filter((candidate) => match(candidate, call.segments) !== null)
    if (matches.length === 0) return notFound()
    const found = matches.find((candidate) => candidate.method === call.request.method)
    if (found === undefined) return methodNotAllowed(matches.map(({ method }) => method).join(', '))
    const asked = (action: Action) => deps.authorize(call.principal, action, { kind: 'gateway' })
    const need = (action: Action) => {
      const allowed = asked(action)
      if (!allowed.allowed) throw new SwitchboardError('forbidden', allowed.reason)
    }
    need(found.action)
    const body = found.body === undefined ? undefined : parseInput(found.body, jsonBody(call), 'body')
    if (found.gives?.(body)) need('rights.give')
    const answer = await found.run({
      path: match(found, call.segments) ?? {},
      query:
        found.query === undefined ? undefined : parseInput(found.query, queryObject(call.query), 'query'),
      body,
      by: nameOf(call.principal),
      user: call.principal.kind === 'user' ? call.principal.id : null,
      via: call.via,
      may: (action) => asked(action).allowed,
      now: deps.clock.now(),
    })
    return wholeReply(answer) ?? json(200, answer ?? { ok: true }, { 'cache-control': 'no-store' })
  }
}

const parameters = ({ path }: Pick<ServedOperation, 'path'>) => path.split('{').length

/** Returns the values of the path's parameters; null: another path. */
function match(candidate: ServedOperation, segments: readonly string[]): Record<string, string> | null {
  const pattern = candidate.path.slice(1).split('/')
  if (pattern.length !== segments.length) return null
  const values: Record<string, string> = {}
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined) {
      if (part !== segment) return null
    } else if (segment === '') return null
    else values[name] = segment
  }
  return values
}

/** Throws `input_invalid` whose message names the first wrong field. */
function parseInput<Out>(schema: z.ZodType<Out>, input: unknown, what: 'query' | 'body'): Out {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined
  const field = unknown ?? (issue?.path.join('.') || what)
  const problem =
    unknown === undefined ? (issue?.message ?? 'is malformed') : `is not a field of this ${what}`
  throw new SwitchboardError('input_invalid', `${field}: ${problem}`)
}

/** Joins repeated keys with commas, which is the form of lists. */
function queryObject(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...new Set(query.keys())].map((key) => [key, query.getAll(key).join(',')]))
}

function jsonBody(call: ApiRequest): unknown {
  if (call.body.length === 0) return {}
  const type = call.request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  // Only JSON, because a foreign page can send a form or text/plain without a preflight request.
  if (type !== 'application/json') {
    throw new SwitchboardError('unsupported_media', 'the body must be application/json')
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(call.body))
  } catch {
    throw new SwitchboardError('input_invalid', 'body: is not valid JSON')
  }
}

function nameOf(principal: Principal): string {
  return principal.kind === 'operator' ? principal.id : `${principal.kind}:${principal.id}`
}
