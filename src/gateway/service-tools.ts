// The tool servers that a Chorus service gave with a delivery, behind the session's own MCP endpoint. They are listed
// there under their server's name, and called through the guarded fetch. Their credentials never leave this process.
import type { McpConnection } from '../chorus/connect-mcp.ts'
import {
  asSwitchboardError,
  type Clock,
  createBoundedMap,
  defined,
  type IntegrationCredentials,
  integrationById,
  type Logger,
  MCP_SERVERS_REF,
  type ServiceTool,
  type Settings,
  type Store,
} from '../contract/index.ts'
import { distrustOf } from '../core/people/trust.ts'
import type { ChorusDelivery, ChorusMcpServer, GuardedFetch } from '../kit/index.ts'
import { type ServiceTools, serviceFailure, serviceToolName } from '../tools/mcp/service-tools.ts'

export interface ServiceToolsDeps {
  readonly store: Pick<Store, 'turns' | 'turn' | 'session'>
  readonly clock: Clock
  readonly log: Logger
  readonly settings: () => Settings
  readonly credentials: (integration: string) => Pick<IntegrationCredentials, 'get'>
  /** The guarded fetch can be injected. */
  readonly fetch?: GuardedFetch
}

export interface ServiceToolProblem {
  readonly session: string
  readonly server: string
  readonly problem: string
  readonly at: number
}

export interface GatewayServiceTools extends ServiceTools {
  /** Servers whose tools could not be listed lately, for doctor. */
  problems(): readonly ServiceToolProblem[]
}

interface Listed {
  readonly server: ChorusMcpServer
  readonly tool: string
  readonly shown: ServiceTool
}

/** These tools belong to a Chorus service, so no channel server is behind its sessions. */
const NO_LINKS = { get: () => undefined }
const LIST_MS = 5_000
const CALL_MS = 60_000
/** A list is read again after this long. A call soon after a list needs no second one. */
const FRESH_MS = 30_000
const MOST_SESSIONS = 1_000
const MOST_SERVERS = 16
const MOST_TOOLS = 200
const PROBLEM_LIFE_MS = 24 * 3_600_000

export function createServiceTools(deps: ServiceToolsDeps): GatewayServiceTools {
  const { clock, log } = deps
  const lists = createBoundedMap<
    string,
    { readonly reference: string; readonly at: number; readonly tools: Promise<readonly Listed[]> }
  >(MOST_SESSIONS)
  const problems = createBoundedMap<string, ServiceToolProblem>(100)
  let fetching: Promise<GuardedFetch> | null = deps.fetch ? Promise.resolve(deps.fetch) : null
  const guard = () => {
    fetching ??= import('../kit/index.ts').then(({ createGuardedFetch }) => createGuardedFetch({ clock }))
    return fetching
  }

  /** The newest turn of the session names its servers. Only those given to its own integration count. */
  const servers = async (session: string) => {
    const [turn] = await deps.store.turns({ session, limit: 1 })
    const reference = turn?.body?.meta?.[MCP_SERVERS_REF]
    if (!turn || reference === undefined) return null
    const prefix = `secret:given.${turn.integration}.`
    if (!reference.startsWith(prefix)) return null
    const text = await deps.credentials(turn.integration).get(reference.slice(prefix.length))
    if (text === null) return null
    const given = JSON.parse(text) as ChorusDelivery['mcp']
    const all = given === undefined || given === null ? [] : [given].flat()
    const allowPrivate = integrationById(deps.settings(), turn.integration)?.options.allow_private === true
    return { reference, allowPrivate, servers: (all as readonly ChorusMcpServer[]).slice(0, MOST_SERVERS) }
  }

  const connected = async <T>(
    server: ChorusMcpServer,
    allowPrivate: boolean,
    use: (connection: McpConnection) => Promise<T>,
  ): Promise<T> => {
    const { connectMcp, closeAll } = await import('../chorus/connect-mcp.ts')
    const connections = await connectMcp([server], { fetch: await guard(), allowPrivate })
    try {
      const [connection] = connections
      if (!connection) throw new Error('no connection')
      return await use(connection)
    } finally {
      void closeAll(connections)
    }
  }

  const within = <T>(ms: number, work: Promise<T>, what: string): Promise<T> =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(ms, () => reject(new Error(`${what} within ${ms / 1_000} s`)))
      work.then(resolve, reject).finally(cancel)
    })

  const listServer = async (session: string, server: ChorusMcpServer, allowPrivate: boolean) => {
    const name = server.name || 'service'
    const key = JSON.stringify([session, name])
    try {
      const listing = connected(server, allowPrivate, async ({ client }) => (await client.listTools()).tools)
      const tools = await within(LIST_MS, listing, 'its tools were not listed')
      problems.delete(key)
      return tools.slice(0, MOST_TOOLS)
    } catch (thrown) {
      const problem = asSwitchboardError(thrown).message
      problems.set(key, { session, server: name, problem, at: clock.now() })
      log.warn({ session, server: name, problem }, 'the tools of a service are left out')
      return []
    }
  }

  const listAll = async (session: string, given: NonNullable<Awaited<ReturnType<typeof servers>>>) => {
    const found = await Promise.all(
      given.servers.map(async (server) => ({
        server,
        tools: await listServer(session, server, given.allowPrivate),
      })),
    )
    const { TOOLS } = await import('../tools/index.ts')
    const taken = new Set<string>(TOOLS.map(({ name }) => name))
    return found.flatMap(({ server, tools }) =>
      tools.map(({ name: tool, description, inputSchema }): Listed => {
        const name = serviceToolName(server.name, tool, taken)
        const about = defined({ description })
        // Annotations are dropped, because a foreign tool's claim to be read-only is not trusted.
        return {
          server,
          tool,
          shown: { name, ...about, inputSchema: inputSchema as ServiceTool['inputSchema'] },
        }
      }),
    )
  }

  const toolsOf = async (session: string) => {
    const given = await servers(session).catch((thrown) => {
      log.warn({ session, problem: String(thrown) }, 'the tool servers of a service cannot be read')
      return null
    })
    if (given === null) return null
    const known = lists.get(session)
    if (known && known.reference === given.reference && clock.now() - known.at < FRESH_MS)
      return { ...given, tools: await known.tools }
    const tools = listAll(session, given)
    lists.set(session, { reference: given.reference, at: clock.now(), tools })
    return { ...given, tools: await tools }
  }

  return {
    async list(session) {
      return (await toolsOf(session))?.tools.map(({ shown }) => shown) ?? []
    },
    async call(session, name, input) {
      const given = await toolsOf(session)
      const found = given?.tools.find(({ shown }) => shown.name === name)
      if (!given || !found) return null
      const row = await deps.store.session(session)
      const refused =
        row === null
          ? null
          : await distrustOf(
              { agent: row.agent, session, turn: null },
              { tool: name, own: false },
              { store: deps.store, settings: deps.settings, links: NO_LINKS },
            )
      if (refused !== null) {
        const { failedOutcome } = await import('../tools/index.ts')
        return serviceFailure(failedOutcome('forbidden', refused))
      }
      const args = typeof input === 'object' && input !== null ? (input as Record<string, unknown>) : {}
      try {
        const calling = connected(found.server, given.allowPrivate, ({ client }) =>
          client.callTool({ name: found.tool, arguments: args }),
        )
        const answer = await within(CALL_MS, calling, 'it did not answer')
        const { content, structuredContent, isError } = answer
        return {
          content: content ?? [],
          ...(structuredContent === undefined
            ? {}
            : { structuredContent: structuredContent as Record<string, unknown> }),
          ...(isError === true ? { isError } : {}),
        }
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        const { failedOutcome } = await import('../tools/index.ts')
        return serviceFailure(
          failedOutcome('outcome_unknown', `${name}: ${error.message}; it may have been done`),
        )
      }
    },
    problems: () => [...problems.values()].filter(({ at }) => clock.now() - at < PROBLEM_LIFE_MS),
  }
}
