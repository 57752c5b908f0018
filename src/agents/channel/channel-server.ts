// The stdio MCP server that a host spawns: events out, tools and permission requests in. It knows nothing of the daemon
// behind it. A plain transport of 2025-11-25 and older on purpose: a server that answers `server/discover` is taken for
// a modern one, and Claude Code then delivers no channel messages.
import type { Readable, Writable } from 'node:stream'
import { Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { type HostAsk, type HostVerdict, MAX_MESSAGE_BYTES, type ToolOutcome } from '../../contract/index.ts'
import { isOffered, TOOLS } from '../../tools/index.ts'
import { shownText, shownTool } from '../../tools/mcp/shown-tool.ts'
import { boundedAsk } from './bounded-ask.ts'
import { gatherOutput } from './gathered-output.ts'
import { instructionsFor } from './instructions.ts'

export interface ChannelServerConfig {
  readonly dialect: 'claude' | 'nexo'
  readonly version: string
  /** Declares that permission requests may be relayed: only when whoever answers is authenticated. */
  readonly permission: boolean
  /** The agent has channel servers of its own. Absent: it has none. */
  readonly channels?: boolean
  /** It is fed by services that may lend tools. */
  readonly services?: boolean
  /** Nothing can be said to where its messages come from. */
  readonly oneWay?: boolean
  /** Nobody could say what this host may be told, so no channel is declared: what it is told instead. */
  readonly undeclared?: string
  readonly input: Readable
  readonly output: Writable
}

export interface ChannelServerDeps {
  /** `key` carries over retries of one call; null: the host gave none. */
  call(tool: string, input: unknown, key: string | null): Promise<ToolOutcome>
  ask(ask: HostAsk): void
  /** The host said who it is. */
  initialized(client: string): void
  /** What came is no message, or cannot be read. */
  problem(error: Error): void
  /** The pipe ended. */
  closed(): void
}

export interface ChannelServer {
  /** Resolves when it was written. */
  event(content: string, meta: Readonly<Record<string, string>>): Promise<void>
  verdict(verdict: HostVerdict): Promise<void>
  close(): Promise<void>
}

const PERMISSION_REQUEST = z.object({
  request_id: z.string().min(1).max(200),
  tool_name: z.string(),
  description: z.string().default(''),
  // Display text of any length: never parsed.
  input_preview: z.string().default(''),
})

export async function serveChannel(
  config: ChannelServerConfig,
  deps: ChannelServerDeps,
): Promise<ChannelServer> {
  const { dialect } = config
  const server = new Server(
    { name: 'switchboard', title: 'Switchboard', version: config.version },
    {
      capabilities: {
        ...(config.undeclared !== undefined
          ? {}
          : {
              experimental: {
                [`${dialect}/channel`]: {},
                ...(config.permission ? { [`${dialect}/channel/permission`]: {} } : {}),
              },
            }),
        tools: {},
      },
      instructions: config.undeclared ?? instructionsFor(dialect, config),
    },
  )
  const offered = TOOLS.filter((tool) => isOffered(tool, { channels: false, ...config }))
  server.setRequestHandler('tools/list', () => ({ tools: offered.map((tool) => shownTool(tool)) }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
    const key = mcpReq._meta?.['claudecode/toolUseId']
    return shownText(
      await deps.call(params.name, params.arguments, typeof key === 'string' && key !== '' ? key : null),
    )
  })
  server.setNotificationHandler(
    `notifications/${dialect}/channel/permission_request`,
    { params: PERMISSION_REQUEST },
    ({ request_id, tool_name, description, input_preview }) => {
      // A host that asks although it was not invited to gets no answer: its own dialog stays open.
      if (!config.permission) return
      const ask = { requestId: request_id, toolName: tool_name, description, inputPreview: input_preview }
      deps.ask(boundedAsk(ask))
    },
  )
  server.oninitialized = () => {
    const client = server.getClientVersion()
    deps.initialized(client ? `${client.name} ${client.version}`.slice(0, 200) : 'a host')
  }
  server.onerror = deps.problem
  server.onclose = deps.closed
  const output = gatherOutput(config.output)
  await server.connect(
    new StdioServerTransport(config.input, output.stream, { maxBufferSize: MAX_MESSAGE_BYTES }),
  )
  // By ourselves: the SDK says that a message was written when the pipe had still to take it, and has every one that waits
  // listen to the pipe.
  const notify = (method: string, params: object) =>
    output.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`)
  return {
    event: (content, meta) => notify(`notifications/${dialect}/channel`, { content, meta }),
    verdict: ({ requestId, behavior }) =>
      notify(`notifications/${dialect}/channel/permission`, { request_id: requestId, behavior }),
    close: () => server.close(),
  }
}
