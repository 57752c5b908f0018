// The stdio MCP server that a host spawns. Events go out; tool calls and permission requests come in. It does not know
// the daemon behind it. It uses the plain transport of 2025-11-25 and older on purpose: Claude Code takes a server that
// answers `server/discover` for a modern one and delivers no channel messages to it.
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
  /** Declares that permission requests may be relayed. True only when the people who answer are authenticated. */
  readonly permission: boolean
  /** The agent has channel servers of its own. Default: false. */
  readonly channels?: boolean
  /** The agent receives from services that may lend tools. */
  readonly services?: boolean
  /** No reply can be sent to the senders of its messages. */
  readonly oneWay?: boolean
  /**
   * Set when the daemon could not say what this host may be told. No channel is declared; these are its instructions.
   */
  readonly undeclared?: string
  readonly input: Readable
  readonly output: Writable
}

export interface ChannelServerDeps {
  /** `key` is the same for all retries of one call; null: the host gave none. */
  call(tool: string, input: unknown, key: string | null): Promise<ToolOutcome>
  ask(ask: HostAsk): void
  /** The host finished its handshake and gave its name. */
  initialized(client: string): void
  /** The host sent something that is no message. */
  problem(error: Error): void
  /** The pipe ended. */
  closed(): void
}

export interface ChannelServer {
  /** Resolves when the pipe took it. */
  event(content: string, meta: Readonly<Record<string, string>>): Promise<void>
  verdict(verdict: HostVerdict): Promise<void>
  close(): Promise<void>
}

const PERMISSION_REQUEST = z.object({
  request_id: z.string().min(1).max(200),
  tool_name: z.string(),
  description: z.string().default(''),
  // Display text of any length. It is never parsed.
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
      // The capability was not declared to this host. It gets no answer, and its own dialog stays open.
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
  // Written without the SDK. The SDK resolves before the pipe took the message, and adds a listener to the pipe for
  // each message that waits.
  const notify = (method: string, params: object) =>
    output.write(`${JSON.stringify({ jsonrpc: '2.0', method, params })}\n`)
  return {
    event: (content, meta) => notify(`notifications/${dialect}/channel`, { content, meta }),
    verdict: ({ requestId, behavior }) =>
      notify(`notifications/${dialect}/channel/permission`, { request_id: requestId, behavior }),
    close: () => server.close(),
  }
}
