// The MCP servers of `llm.mcp`; only their tools are used. A server is connected when its tools are needed, and again
// after its connection ended. One that does not connect is left out, with the reason.
import type { Client } from '@modelcontextprotocol/client'
import { asSwitchboardError, type Clock, defined, type Logger, type Random } from '../../contract/index.ts'
import type { StreamingFetch } from '../../kit/index.ts'
import { createGroupWatcher, MARK_NAME } from '../../kit/processes/index.ts'
import { serviceToolName } from '../../tools/mcp/service-tools.ts'
import type { LlmConfig } from './config.ts'

export interface ServerTool {
  readonly name: string
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  readonly readOnly: boolean
  /** Returns the server's answer as it came. */
  call(
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<{ readonly content: readonly unknown[]; readonly isError: boolean }>
}

export interface McpServers {
  /** Never throws. `taken`: names in use; the names of the tools are added. */
  tools(taken: Set<string>): Promise<readonly ServerTool[]>
  /** Returns why servers are not used, by name. */
  problems(): ReadonlyMap<string, string>
  stop(): Promise<void>
}

export interface McpServersDeps {
  readonly clock: Clock
  readonly log: Logger
  readonly fetch: StreamingFetch
  readonly version: string
  readonly random: Random
  /** The path of the shell that ends the servers when this process is killed. */
  readonly path: string
}

/** `npx` may have to fetch the server first. */
const CONNECT_MS = 30_000
const LIST_MS = 10_000
const MOST_TOOLS = 200
/** A failed server is tried again after this time, not with every message. */
const AGAIN_MS = 30_000
/** Never reached: the loop's own limit is shorter. */
const CALL_MS = 3_600_000

interface Opened {
  readonly client: Client
  /** Returns its tools. They are listed again after the server said that they changed. */
  list(): Promise<readonly Listed[]>
}
type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number]

export function createMcpServers(config: LlmConfig, deps: McpServersDeps): McpServers {
  const { clock, log } = deps
  const problems = new Map<string, string>()
  const failedAt = new Map<string, number>()
  const opened = new Map<string, Promise<Opened>>()
  let stopped = false

  const watcher = createGroupWatcher({ log, path: deps.path })

  /** `mark`: identifies its process, so that it is found and ended after this one was killed. */
  const transportOf = async (name: string, mark: string) => {
    const server = config.mcp[name]
    if (!server) throw new Error(`there is no server "${name}"`)
    const values = (given: Readonly<Record<string, string>>) =>
      Object.fromEntries(Object.entries(given).map(([key, written]) => [key, config.value(written)]))
    if (server.url !== undefined) {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
      return new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: values(server.headers) },
        fetch: deps.fetch,
      })
    }
    const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
    return new StdioClientTransport({
      command: server.command ?? '',
      args: [...server.args],
      env: { ...getDefaultEnvironment(), ...values(server.env), [MARK_NAME]: mark },
      ...defined({ cwd: server.cwd }),
      stderr: 'ignore',
    })
  }

  const connect = async (name: string): Promise<Opened> => {
    const { Client: McpClient } = await import('@modelcontextprotocol/client')
    const client = new McpClient({ name: 'switchboard', version: deps.version })
    const forget = () => {
      if (opened.get(name) === mine) opened.delete(name)
    }
    const mark = Buffer.from(deps.random.bytes(16)).toString('hex')
    const unwatch = config.mcp[name]?.url === undefined ? watcher.expect(mark) : () => undefined
    client.onclose = () => {
      unwatch()
      forget()
    }
    let listing: Promise<readonly Listed[]> | null = null
    const list = () => {
      listing ??= within(clock, LIST_MS, client.listTools(), 'its tools were not listed').then(({ tools }) =>
        tools.slice(0, MOST_TOOLS),
      )
      return listing
    }
    // Its tools changed. They are listed again with the next message, over the same connection.
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      listing = null
    })
    const mine = opened.get(name)
    try {
      await within(clock, CONNECT_MS, client.connect(await transportOf(name, mark)), 'it did not start')
      await list()
      problems.delete(name)
      failedAt.delete(name)
      return { client, list }
    } catch (thrown) {
      void client
        .close()
        .catch(() => undefined)
        .finally(unwatch)
      throw thrown
    }
  }

  const open = (name: string): Promise<Opened | null> => {
    const known = opened.get(name)
    if (known) return known.catch(() => null)
    if (stopped || clock.now() - (failedAt.get(name) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS)
      return Promise.resolve(null)
    const opening = Promise.resolve().then(() => connect(name))
    opened.set(name, opening)
    return opening.catch((thrown: unknown) => {
      if (opened.get(name) === opening) opened.delete(name)
      leftOut(name, thrown)
      return null
    })
  }

  const leftOut = (name: string, thrown: unknown) => {
    failedAt.set(name, clock.now())
    const problem = asSwitchboardError(thrown).message.slice(0, 300)
    problems.set(name, problem)
    log.warn({ server: name, problem }, 'the tools of an MCP server are left out')
  }

  const listed = async (name: string): Promise<readonly Listed[]> => {
    const connection = await open(name)
    if (!connection) return []
    return connection.list().catch(async (thrown: unknown) => {
      leftOut(name, thrown)
      // Closing removes it. It is connected again after a while.
      await connection.client.close().catch(() => undefined)
      return []
    })
  }

  return {
    async tools(taken) {
      const names = Object.keys(config.mcp)
      const all = await Promise.all(names.map(async (server) => ({ server, found: await listed(server) })))
      return all.flatMap(({ server, found }) =>
        found.map(
          (tool): ServerTool => ({
            name: serviceToolName(server, tool.name, taken),
            description: tool.description ?? tool.title ?? tool.name,
            schema: tool.inputSchema as Readonly<Record<string, unknown>>,
            // The operator configured this server, so its hint is believed.
            readOnly: tool.annotations?.readOnlyHint === true,
            async call(input, signal) {
              const now = await open(server)
              if (!now) throw new Error(`the MCP server "${server}" is away`)
              const answer = await now.client.callTool(
                { name: tool.name, arguments: input },
                { signal, timeout: CALL_MS },
              )
              return {
                content: (answer.content ?? []) as readonly unknown[],
                isError: answer.isError === true,
              }
            },
          }),
        ),
      )
    },
    problems: () => problems,
    async stop() {
      stopped = true
      const all = [...opened.values()]
      opened.clear()
      await Promise.allSettled(all.map(async (one) => (await one).client.close()))
      watcher.stop()
    },
  }
}

function within<T>(clock: Clock, ms: number, work: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(`${what} within ${ms / 1_000} s`)))
    work.then(resolve, reject).finally(cancel)
  })
}
