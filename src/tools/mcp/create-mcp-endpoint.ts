// /mcp and /mcp/notify: the tools over HTTP. Unauthorised and malformed requests end here. The MCP SDK is loaded by the
// first valid request.
import type { HeadEndpoint, HttpReply, RequestHead } from '../../contract/index.ts'
import { createNotifyRpc } from './notify-rpc.ts'
import {
  BAD_TOKEN,
  bearerOf,
  CHALLENGE,
  isUnparsable,
  type McpDeps,
  notJson,
  parseBody,
  refuseForm,
  rpcReply,
} from './tool-grant.ts'

export type { ToolGrant } from './tool-grant.ts'

/** `path`: the rest after /mcp, '' or '/notify'. */
export type McpEndpoint = HeadEndpoint

type ToolServer = import('./serve-tools.ts').ToolServer

export function createMcpEndpoint(deps: McpDeps): McpEndpoint {
  const notify = createNotifyRpc(deps)
  let loading: Promise<ToolServer> | null = null
  const server = () => {
    loading ??= import('./serve-tools.ts').then(({ createToolServer }) => createToolServer(deps))
    return loading
  }

  async function tools(head: RequestHead): ReturnType<McpEndpoint['admit']> {
    const refused = refuseForm(head)
    if (refused !== null) return refused
    const bearer = bearerOf(head)
    if (bearer === null) return denied(401, 'unauthorized', 'Missing bearer token', CHALLENGE)
    const grant = await deps.authenticate(bearer)
    if (grant === null) return denied(401, 'unauthorized', 'Invalid or expired token', BAD_TOKEN)
    return async (bytes) => {
      const request = { ...head, body: bytes }
      const body = parseBody(request)
      if (isUnparsable(body)) return notJson()
      if (Array.isArray(body)) {
        // Removed from the protocol in 2025-06-18. One Idempotency-Key could not distinguish the calls.
        const error = { code: -32600, message: 'Batches are not taken: send one message a request' }
        return rpcReply(400, { id: null, error })
      }
      return (await server()).serve(grant, request, body)
    }
  }

  return {
    async admit(head) {
      if (head.path === '' || head.path === '/') return tools(head)
      if (head.path === '/notify') return notify(head)
      return denied(404, 'not_found', 'there is nothing at this path')
    },
  }
}

function denied(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  return rpcReply(status, { id: null, error: { code: -32000, message, data: { code } } }, headers)
}
