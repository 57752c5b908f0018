// The caller of a request by its bearer, and the common parts of /mcp and /mcp/notify.
import { createHash } from 'node:crypto'
import type {
  Action,
  HttpReply,
  Logger,
  RawRequest,
  RequestHead,
  ToolActions,
  ToolCaller,
} from '../../contract/index.ts'
import type { AnswerWay } from '../tool.ts'
import type { ServiceTools } from './service-tools.ts'

/** What a token allows. Agent, user and session come from it, never from arguments. */
export interface ToolGrant {
  readonly agent: string
  readonly session: string | null
  /** The turn that it was minted for. */
  readonly turn: string | null
  readonly user: string | null
  /** The agent has channel servers. */
  readonly channels: boolean
  /** How the model's text reaches the chat of its session. */
  readonly answers: AnswerWay
  may(action: Action): boolean
}

export interface McpDeps {
  readonly actions: ToolActions
  /** Null: the token is unknown, expired or revoked. */
  authenticate(bearer: string): Promise<ToolGrant | null>
  readonly log: Logger
  readonly version: string
  /** Tools of the service behind a session. Absent: there are none. */
  readonly services?: ServiceTools
}

export function bearerOf(request: RequestHead): string | null {
  const { authorization } = request.headers
  return /^Bearer +(\S+) *$/i.exec(String(authorization ?? ''))?.[1] ?? null
}

/** The key that is the same for retries: the host's own id of the call, else the HTTP client's. */
export function callerOf(
  grant: ToolGrant,
  request: RawRequest,
  meta: Readonly<Record<string, unknown>> | undefined,
): ToolCaller {
  const key = keyOf(meta?.['claudecode/toolUseId']) ?? keyOf(request.headers['idempotency-key'])
  const { agent, session, user, turn } = grant
  return { agent, session, user, turn, idempotencyKey: key }
}

const LONGEST_KEY = 200

/** Keys of any length stay different: a long one is replaced by its digest. */
function keyOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null
  if (value.length <= LONGEST_KEY) return value
  return `sha256:${createHash('sha256').update(value).digest('hex')}`
}

export type RpcId = string | number | null

export function rpcReply(
  status: number,
  body: { readonly id: RpcId; readonly result: unknown } | { readonly id: RpcId; readonly error: RpcError },
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', ...body }),
  }
}

export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: { readonly code: string }
}

export const CHALLENGE = { 'www-authenticate': 'Bearer realm="switchboard"' }
export const BAD_TOKEN = { 'www-authenticate': 'Bearer realm="switchboard", error="invalid_token"' }

/** Returns the refusal of anything but a POST of JSON; null for one. */
export function refuseForm(request: RequestHead): HttpReply | null {
  if (request.method !== 'POST') {
    const error = { code: -32000, message: 'Method not allowed', data: { code: 'method_not_allowed' } }
    return rpcReply(405, { id: null, error }, { allow: 'POST' })
  }
  const type = String(request.headers['content-type'] ?? '')
  if (/^application\/json *(;|$)/i.test(type.trim())) return null
  const message = 'Content-Type must be application/json'
  return rpcReply(415, { id: null, error: { code: -32000, message, data: { code: 'unsupported_media' } } })
}

const INVALID = Symbol('not JSON')

/** Returns the body as JSON, or INVALID. Bytes that are not UTF-8 are not JSON. */
export function parseBody(request: RawRequest): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(request.body))
  } catch {
    return INVALID
  }
}

export function isUnparsable(body: unknown): boolean {
  return body === INVALID
}

export function notJson(): HttpReply {
  const error = {
    code: -32700,
    message: 'Parse error: the body is not JSON',
    data: { code: 'input_invalid' },
  }
  return rpcReply(400, { id: null, error })
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
