// POST /mcp/notify: notify_user as plain JSON-RPC, one JSON answer per POST, so that curl is enough. The errors' words
// are the seed's. Clients of MCP's Streamable HTTP work too.
import type { HeadEndpoint, HttpReply, RawRequest, RequestHead } from '../../contract/index.ts'
import { callTool } from '../call-tool.ts'
import { notifyUser } from '../notify-user.ts'
import { inputSchemaOf } from '../tool.ts'
import type { ToolServer } from './serve-tools.ts'
import {
  BAD_TOKEN,
  bearerOf,
  CHALLENGE,
  callerOf,
  isRecord,
  isUnparsable,
  type McpDeps,
  notJson,
  parseBody,
  type RpcId,
  refuseForm,
  rpcReply,
  type ToolGrant,
} from './tool-grant.ts'

const SERVER_NAME = 'switchboard-notify'
const FIRST_VERSION = '2024-11-05'
const VERSIONS = [FIRST_VERSION, '2025-03-26', '2025-06-18', '2025-11-25']

interface RpcRequest {
  readonly id: RpcId
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  readonly notification: boolean
}

/** Without a credential, only enough is read to name the call's id in the refusal. */
const MOST_UNPROVEN_BYTES = 16_384

export function createNotifyRpc(deps: McpDeps): HeadEndpoint['admit'] {
  let loading: Promise<ToolServer> | null = null
  const server = () => {
    loading ??= import('./serve-tools.ts').then(({ createToolServer }) => createToolServer(deps, SERVER_NAME))
    return loading
  }
  return async (head) => {
    const refused = refuseForm(head)
    if (refused !== null) return refused
    const bearer = bearerOf(head)
    const found = bearer === null ? null : await deps.authenticate(bearer)
    const grant = found?.may(notifyUser.action) ? found : null
    const length = Number(head.headers['content-length'] ?? Number.NaN)
    if (grant === null && !(length <= MOST_UNPROVEN_BYTES)) return denied(head, null)
    return (body) => take(deps, server, grant, { ...head, body })
  }
}

function denied(head: RequestHead, id: RpcId): HttpReply {
  return head.headers.authorization === undefined
    ? failed(401, id, -32000, 'Missing Authorization header', CHALLENGE)
    : failed(401, id, -32000, 'Invalid or expired session token', BAD_TOKEN)
}

async function take(
  deps: McpDeps,
  server: () => Promise<ToolServer>,
  grant: ToolGrant | null,
  request: RawRequest,
): Promise<HttpReply> {
  const body = parseBody(request)
  const call = rpcRequestOf(body)
  if (grant === null) return denied(request, call?.id ?? null)
  if (isUnparsable(body)) return notJson()
  if (call === null) return failed(400, null, -32600, 'Invalid JSON-RPC request')
  if (isNewer(request, call)) {
    const may = (action: typeof notifyUser.action) => action === notifyUser.action && grant.may(action)
    return (await server()).serve({ ...grant, may }, request, body)
  }
  if (call.notification) return { status: 202 }
  return answer(deps, grant, request, call)
}

async function answer(
  deps: McpDeps,
  grant: ToolGrant,
  request: RawRequest,
  { id, method, params }: RpcRequest,
): Promise<HttpReply> {
  const result = (value: unknown) => rpcReply(200, { id, result: value })
  switch (method) {
    case 'initialize':
      return result({
        protocolVersion: versionFor(params.protocolVersion),
        capabilities: { tools: {} },
        serverInfo: { name: SERVER_NAME, version: deps.version },
      })
    case 'ping':
      return result({})
    case 'tools/list':
      return result({ tools: [listed()] })
    case 'tools/call': {
      const { name } = params
      if (typeof name !== 'string' || name === '')
        return failed(200, id, -32602, 'Missing tool name in params')
      if (name !== notifyUser.name) return result(toolResult(`Unknown tool: ${name.slice(0, 200)}`, true))
      const meta = isRecord(params._meta) ? params._meta : undefined
      const caller = callerOf(grant, request, meta)
      const outcome = await callTool(notifyUser, { ...deps, caller, input: params.arguments })
      return result(toolResult(outcome.text, outcome.isError))
    }
    default:
      // With an id it is a request despite its name. It gets an empty result.
      if (method.startsWith(NOTIFICATIONS)) return result({})
      return failed(200, id, -32601, `Method not found: ${method.slice(0, 200)}`)
  }
}

const NOTIFICATIONS = 'notifications/'

/** A newer protocol version. The SDK answers or refuses it in its own form, as at /mcp. */
function isNewer({ headers }: RawRequest, { method, params }: RpcRequest): boolean {
  const version = headers['mcp-protocol-version']
  if (version !== undefined && !VERSIONS.includes(String(version))) return true
  const meta = isRecord(params._meta) ? params._meta : {}
  return method === 'server/discover' || Object.hasOwn(meta, 'io.modelcontextprotocol/protocolVersion')
}

/** A request without an id is answered as number 0, as in the seed. A notification gets no answer. */
function rpcRequestOf(body: unknown): RpcRequest | null {
  if (!isRecord(body) || body.jsonrpc !== '2.0') return null
  const { id = null, method, params = {} } = body
  if (typeof method !== 'string' || method === '' || !isRecord(params)) return null
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') return null
  return { id: id ?? 0, method, params, notification: id === null && method.startsWith(NOTIFICATIONS) }
}

function versionFor(asked: unknown): string {
  return VERSIONS.find((version) => version === asked) ?? FIRST_VERSION
}

function listed() {
  const { name, description } = notifyUser
  return { name, description, inputSchema: inputSchemaOf(notifyUser) }
}

function toolResult(text: string, isError: boolean) {
  return { content: [{ type: 'text', text }], ...(isError ? { isError: true } : {}) }
}

function failed(
  status: number,
  id: RpcId,
  code: number,
  message: string,
  headers?: Readonly<Record<string, string>>,
): HttpReply {
  return rpcReply(status, { id, error: { code, message } }, headers)
}
