// The tools of one caller over MCP Streamable HTTP, for clients of 2026-07-28 and of the years before. Stateless: each
// request has a server of its own that shows exactly what this caller may use, so any node can answer the next one.
import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { HttpReply, RawRequest } from '../../contract/index.ts'
import { callTool, failedOutcome, isOffered, TOOLS } from '../index.ts'
import { shownResult, shownSessionTool, shownTool } from './shown-tool.ts'
import { callerOf, type McpDeps, type ToolGrant } from './tool-grant.ts'

const INSTRUCTIONS =
  'Tools to answer people and to reach them through Switchboard. chat_id and message_id are passed back as they came. ' +
  'A result says what really happened: sent means that the platform confirmed it.'

/** A Chorus delivery brings no chat_id: the credential says which conversation it is. */
const SESSION_INSTRUCTIONS =
  `${INSTRUCTIONS} This connection belongs to one conversation: chat_id can be left out, and the message.id of a delivery ` +
  'is taken wherever a message is named.'

export async function serveTools(
  deps: McpDeps,
  grant: ToolGrant,
  raw: RawRequest,
  body: unknown,
  name = 'switchboard',
): Promise<HttpReply> {
  const request = webRequest(raw)
  const server = serverFor(deps, grant, raw, name)
  if (!(await isLegacyRequest(request, body))) {
    // Nothing changes while a request lasts, so there is nothing to listen for.
    const handler = createMcpHandler(() => server, { legacy: 'reject', maxSubscriptions: 0 })
    return replyOf(await handler.fetch(request, { parsedBody: body }))
  }
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await replyOf(await transport.handleRequest(request, { parsedBody: body }))
  } finally {
    await server.close()
  }
}

function serverFor(deps: McpDeps, grant: ToolGrant, raw: RawRequest, name: string): Server {
  const usable = TOOLS.filter((tool) => grant.may(tool.action) && isOffered(tool, grant))
  const server = new Server(
    { name, title: 'Switchboard', version: deps.version },
    {
      capabilities: { tools: {} },
      instructions: grant.session === null ? INSTRUCTIONS : SESSION_INSTRUCTIONS,
    },
  )
  const shown = usable.map((tool) =>
    grant.session === null ? shownTool(tool) : shownSessionTool(tool, grant.answers),
  )
  const { session } = grant
  // Only who may send may use what others lent to the session.
  const services = session !== null && grant.may('message.send') ? deps.services : undefined
  server.setRequestHandler('tools/list', async () => {
    const lent = session === null ? [] : ((await services?.list(session)) ?? [])
    return {
      tools: [
        ...shown,
        ...lent.map((tool) => ({ ...tool, inputSchema: { ...tool.inputSchema, type: 'object' as const } })),
      ],
    }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const tool = usable.find(({ name }) => name === params.name)
    if (tool === undefined) {
      const lent = session === null ? null : await services?.call(session, params.name, params.arguments)
      if (lent) return { ...lent, content: [...lent.content] as CallToolResult['content'] }
      return shownResult(failedOutcome('not_found', `Unknown tool: ${params.name}`))
    }
    const caller = callerOf(grant, raw, mcpReq._meta)
    return shownResult(await callTool(tool, { ...deps, caller, input: params.arguments }))
  })
  return server
}

/** What the SDK needs of the request: no credential, and no say in how the answer is framed. */
function webRequest(raw: RawRequest): Request {
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  for (const [name, value] of Object.entries(raw.headers)) {
    if (name.startsWith('mcp-') && value !== undefined) headers.set(name, String(value))
  }
  // The body goes along parsed; a POST without one would be taken for something else.
  return new Request('http://switchboard.invalid/mcp', { method: 'POST', headers, body: '{}' })
}

async function replyOf(response: Response): Promise<HttpReply> {
  const headers = { 'cache-control': 'no-store', ...Object.fromEntries(response.headers) }
  return { status: response.status, headers, body: await response.text() }
}
