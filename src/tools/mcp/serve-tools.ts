// The tools of one caller over MCP Streamable HTTP, for clients of 2026-07-28 and earlier. It is stateless: each
// request identifies its caller, so any node can answer the next one.
import {
  type CallToolResult,
  createMcpHandler,
  isInitializeRequest,
  isJSONRPCRequest,
  isLegacyRequest,
  type JSONRPCMessage,
  parseJSONRPCMessage,
  type RequestId,
  Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import type { HttpReply, RawRequest } from '../../contract/index.ts'
import { callTool, failedOutcome, isOffered, TOOLS, type Tool } from '../index.ts'
import { createSharedServer, type SharedServer } from './shared-server.ts'
import { shownResult, shownSessionTool, shownTool } from './shown-tool.ts'
import { callerOf, type McpDeps, type ToolGrant } from './tool-grant.ts'

const INSTRUCTIONS =
  'Tools to answer people and to reach them through Switchboard. chat_id and message_id are passed back as they came. ' +
  'A result says what really happened: sent means that the platform confirmed it.'

/** A Chorus delivery has no chat_id, because the credential names the conversation. */
const SESSION_INSTRUCTIONS =
  `${INSTRUCTIONS} This connection belongs to one conversation: chat_id can be left out, and the message.id of a delivery ` +
  'is taken wherever a message is named.'

export interface ToolServer {
  serve(grant: ToolGrant, request: RawRequest, body: unknown): Promise<HttpReply>
}

/** One request with its caller. */
interface Call {
  readonly grant: ToolGrant
  readonly request: RawRequest
}

/** `name`: the server's name in the protocol. */
export function createToolServer(deps: McpDeps, name = 'switchboard'): ToolServer {
  const serverFor = (instructions: string, callOf: (id: RequestId) => Call) =>
    createServer(deps, { name, instructions }, callOf)
  const agents = createSharedServer<Call>((callOf) => serverFor(INSTRUCTIONS, callOf))
  const sessions = createSharedServer<Call>((callOf) => serverFor(SESSION_INSTRUCTIONS, callOf))

  return {
    async serve(grant, request, body) {
      const call = { grant, request }
      const web = webRequest(request)
      const shared = grant.session === null ? agents : sessions
      if (await isLegacyRequest(web, body)) return serveLegacy(shared, call, body)
      // The SDK requires a separate object for each request of this version.
      const instructions = grant.session === null ? INSTRUCTIONS : SESSION_INSTRUCTIONS
      const server = serverFor(instructions, () => call)
      // Nothing changes during a request, so subscriptions are not offered.
      const handler = createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 })
      return replyOf(await handler.fetch(web, { parsedBody: body }))
    },
  }
}

/** Answers a request of a protocol version before 2026-07-28. */
async function serveLegacy(server: SharedServer<Call>, call: Call, body: unknown): Promise<HttpReply> {
  const message = parsedMessage(body)
  if (message === null) return refused(-32700, 'Parse error: Invalid JSON-RPC message')
  const version = call.request.headers['mcp-protocol-version']
  const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(String(version))
  if (!isKnown && !isInitializeRequest(message)) {
    const supported = SUPPORTED_PROTOCOL_VERSIONS.join(', ')
    const why = `Unsupported protocol version: ${version} (supported versions: ${supported})`
    return refused(-32000, `Bad Request: ${why}`)
  }
  // Requests are independent, so a notification changes nothing, and no request of ours awaits a response.
  if (!isJSONRPCRequest(message)) return { status: 202, headers: NOT_STORED }
  return jsonReply(200, await server.answer(message, call))
}

function parsedMessage(body: unknown): JSONRPCMessage | null {
  try {
    return parseJSONRPCMessage(body)
  } catch {
    return null
  }
}

function refused(code: number, message: string): HttpReply {
  return jsonReply(400, { jsonrpc: '2.0', error: { code, message }, id: null })
}

const NOT_STORED = { 'cache-control': 'no-store' }

function jsonReply(status: number, body: unknown): HttpReply {
  const headers = { ...NOT_STORED, 'content-type': 'application/json' }
  return { status, headers, body: JSON.stringify(body) }
}

/** `callOf` returns the call of a request that this server received. */
function createServer(
  deps: McpDeps,
  { name, instructions }: { readonly name: string; readonly instructions: string },
  callOf: (id: RequestId) => Call,
): Server {
  const server = new Server(
    { name, title: 'Switchboard', version: deps.version },
    { capabilities: { tools: {} }, instructions },
  )
  server.setRequestHandler('tools/list', (_request, { mcpReq }) => listTools(deps, callOf(mcpReq.id).grant))
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) =>
    runTool(deps, callOf(mcpReq.id), params, mcpReq._meta),
  )
  return server
}

/** Returns the tools that this caller may use. */
function usableTools(grant: ToolGrant): readonly Tool[] {
  return TOOLS.filter((tool) => grant.may(tool.action) && isOffered(tool, grant))
}

/** Returns the tools that a service lent to the session. Only callers with the right to send may use them. */
function servicesOf(deps: McpDeps, { session, may }: ToolGrant) {
  return session !== null && may('message.send') && deps.services
    ? { session, services: deps.services }
    : null
}

async function listTools(deps: McpDeps, grant: ToolGrant) {
  const lending = servicesOf(deps, grant)
  const lent = lending === null ? [] : await lending.services.list(lending.session)
  return {
    tools: [
      ...usableTools(grant).map((tool) =>
        grant.session === null ? shownTool(tool) : shownSessionTool(tool, grant.answers),
      ),
      ...lent.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, type: 'object' as const } })),
    ],
  }
}

async function runTool(
  deps: McpDeps,
  { grant, request }: Call,
  { name, arguments: input }: { readonly name: string; readonly arguments?: unknown },
  meta: Readonly<Record<string, unknown>> | undefined,
): Promise<CallToolResult> {
  const tool = usableTools(grant).find((usable) => usable.name === name)
  if (tool !== undefined) {
    const caller = callerOf(grant, request, meta)
    return shownResult(await callTool(tool, { ...deps, caller, input }))
  }
  const lending = servicesOf(deps, grant)
  const lent = lending === null ? null : await lending.services.call(lending.session, name, input)
  if (lent) return { ...lent, content: [...lent.content] as CallToolResult['content'] }
  return shownResult(failedOutcome('not_found', `Unknown tool: ${name}`))
}

/** Returns the request for the SDK, without the credential and without the caller's own `accept` header. */
function webRequest(raw: RawRequest): Request {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  for (const [name, value] of Object.entries(raw.headers)) {
    if (name.startsWith('mcp-') && value !== undefined) headers.set(name, String(value))
  }
  // The parsed body is passed separately. A POST without a body would be read as something else.
  return new Request('http://switchboard.invalid/mcp', { method: 'POST', headers, body: '{}' })
}

async function replyOf(response: Response): Promise<HttpReply> {
  const headers = { ...NOT_STORED, ...Object.fromEntries(response.headers) }
  return { status: response.status, headers, body: await response.text() }
}
