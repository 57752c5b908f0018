// All tools of a turn: Switchboard's own, those of `llm.mcp`, and those that a service lends. Each says whether it only
// reads, and whether a call may be repeated with the same key.
import type { ConnectorDeps, Delivery, ServiceToolSource, ToolCaller } from '../../contract/index.ts'
import { callTool, isOffered, sessionSchemaOf, TOOLS } from '../../tools/index.ts'
import { serviceToolName } from '../../tools/mcp/service-tools.ts'
import type { LlmConfig } from './config.ts'
import type { McpServers } from './mcp-servers.ts'
import type { ToolSpec } from './models/model.ts'

export interface BoxedTool extends ToolSpec {
  readonly readOnly: boolean
  /** The same call with the same key runs once, however often it is made. */
  readonly keyed: boolean
  readonly risky: boolean
  /** Returns why the call would be refused in any case, so that no person is asked. Null: it would not. */
  refusal(input: Record<string, unknown>): Promise<string | null>
  run(
    input: Record<string, unknown>,
    call: { readonly key: string; readonly signal: AbortSignal },
  ): Promise<BoxedResult>
}

export interface BoxedResult {
  readonly text: string
  readonly isError: boolean
}

export interface Toolbox {
  readonly tools: readonly BoxedTool[]
  find(name: string): BoxedTool | undefined
}

// The loop's final text is the reply, the loop itself sees waiting messages, and it has no disk for files.
const LEFT_OUT = ['reply', 'ack', 'pending_messages', 'download_attachment']
const KEYED = ['send_message', 'notify_user', 'react', 'edit_message']

export async function openToolbox(
  delivery: Delivery,
  config: LlmConfig,
  deps: Pick<ConnectorDeps, 'agent' | 'tools' | 'lent' | 'log'> & { readonly servers: McpServers },
): Promise<Toolbox> {
  const taken = new Set<string>(TOOLS.map(({ name }) => name))
  const own = ownTools(delivery, deps)
  const theirs = await deps.servers.tools(taken)
  // The prefix of every tool name of such a server.
  const reserved = Object.keys(config.mcp).map((server) => serviceToolName(server, '', new Set()))
  const lent = deps.lent ? await serviceTools(delivery.session, deps.lent, { taken, reserved }) : []
  const all = [
    ...own,
    ...theirs.map((tool) => ({
      ...tool,
      keyed: false,
      run: async (input: Record<string, unknown>, { signal }: { readonly signal: AbortSignal }) => {
        const { content, isError } = await tool.call(input, signal)
        return { text: contentText(content), isError }
      },
    })),
    ...lent,
  ]
  const { session, turn } = delivery
  const caller: ToolCaller = { agent: deps.agent.id, session, turn, user: null, idempotencyKey: null }
  const ownNames = new Set(own.map(({ name }) => name))
  const tools = all.map(
    (tool): BoxedTool => ({
      ...tool,
      risky: isRisky(tool, config.risky_tools),
      async refusal(input) {
        const call = { tool: tool.name, own: ownNames.has(tool.name), input }
        return (await deps.tools?.().refusalOf?.(caller, call)) ?? null
      },
    }),
  )
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  return { tools: [...byName.values()], find: (name) => byName.get(name) }
}

/** Without a list, every tool that does more than read; with one, exactly those that it names. */
function isRisky(
  tool: { readonly name: string; readonly readOnly: boolean },
  listed: readonly string[] | undefined,
): boolean {
  if (listed === undefined) return !tool.readOnly
  return listed.some((one) =>
    one.endsWith('*') ? tool.name.startsWith(one.slice(0, -1)) : tool.name === one,
  )
}

type Unjudged = Omit<BoxedTool, 'risky' | 'refusal'>

function ownTools(
  delivery: Delivery,
  deps: Pick<ConnectorDeps, 'agent' | 'tools' | 'log'>,
): readonly Unjudged[] {
  const { tools: deskOf, log, agent } = deps
  if (!deskOf) return []
  const { session, turn } = delivery
  const offered = TOOLS.filter(
    (tool) => !LEFT_OUT.includes(tool.name) && isOffered(tool, { channels: agent.channels !== null }),
  )
  return offered.map((tool) => ({
    name: tool.name,
    description: tool.description,
    schema: sessionSchemaOf(tool),
    readOnly: tool.readOnly,
    keyed: KEYED.includes(tool.name),
    async run(input, { key }) {
      const caller: ToolCaller = { agent: agent.id, session, turn, user: null, idempotencyKey: key }
      const { text, isError } = await callTool(tool, { actions: deskOf(), caller, input, log })
      return { text, isError }
    },
  }))
}

/**
 * Lent tools get names that no server of `llm.mcp` has, even while that server is away. Otherwise a service could name
 * its server like the operator's, receive calls meant for it, and be matched by `risky_tools`.
 */
async function serviceTools(
  session: string,
  source: ServiceToolSource,
  { taken, reserved }: { readonly taken: Set<string>; readonly reserved: readonly string[] },
): Promise<readonly Unjudged[]> {
  const listed = await source.list(session)
  const shown = (name: string) => {
    if (!taken.has(name) && !reserved.some((start) => name.startsWith(start))) {
      taken.add(name)
      return name
    }
    return serviceToolName('lent', name, taken)
  }
  return listed.map(({ name, description, inputSchema }) => ({
    name: shown(name),
    description: description ?? name,
    schema: inputSchema,
    // A lent tool's own hint is not believed.
    readOnly: false,
    keyed: false,
    async run(input) {
      const answer = await source.call(session, name, input)
      if (!answer) return { text: `there is no tool "${name}" any more`, isError: true }
      return { text: contentText(answer.content), isError: answer.isError === true }
    },
  }))
}

/** Returns MCP content blocks as text. Other blocks are named. */
function contentText(content: readonly unknown[]): string {
  return content
    .map((block) => {
      const { type, text, mimeType, resource, uri } = block as Readonly<Record<string, unknown>>
      if (type === 'text' && typeof text === 'string') return text
      if (type === 'resource' && typeof resource === 'object' && resource !== null) {
        const inner = (resource as Readonly<Record<string, unknown>>).text
        return typeof inner === 'string' ? inner : '(a resource without text)'
      }
      if (type === 'resource_link') return `(a link: ${String(uri)})`
      return `(${String(type)}${typeof mimeType === 'string' ? `, ${mimeType}` : ''}: not shown)`
    })
    .join('\n')
}
