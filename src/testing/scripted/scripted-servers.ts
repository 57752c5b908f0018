// Scripted channel servers, in place of the pool of live connections. They connect, push, answer calls and get lost.
import {
  type Cancel,
  type ChannelServer,
  type ChannelServers,
  type McpServerSettings,
  type ServerFacts,
  type ServerNews,
  type ServerTool,
  type ServerToolResult,
  SwitchboardError,
} from '../../contract/index.ts'

export interface ScriptedServer {
  /** Connects with these facts. The default is a nexo channel with the tool `send_message`. */
  up(facts?: Partial<ServerFacts>, tools?: readonly (string | ServerTool)[]): void
  down(detail?: string): void
  becomes(facts: Partial<ServerFacts>): void
  /** Pushes a message of a person, in the dialect that the server declared. */
  says(content: string, meta?: Readonly<Record<string, string>>): void
  decides(approval: string, behavior: 'allow' | 'deny'): void
  /** Pushes any news. */
  pushes(news: Partial<ServerNews>): void
  readonly calls: readonly { readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[]
  /** The texts that the server received to show. */
  texts(): readonly unknown[]
  readonly notified: readonly {
    readonly method: string
    readonly params: Readonly<Record<string, unknown>>
  }[]
  /** Answers tool calls. If it throws, the transport failed. */
  answer: (tool: string, input: Readonly<Record<string, unknown>>) => Partial<ServerToolResult>
}

export interface ScriptedServers extends ChannelServers {
  named(name: string): ScriptedServer
  /** The servers of the last configuration. */
  readonly configured: readonly McpServerSettings[]
}

interface Played {
  readonly script: ScriptedServer
  readonly server: ChannelServer
}

export function createScriptedServers(): ScriptedServers {
  const played = new Map<string, Played>()
  let configured: readonly McpServerSettings[] = []
  const play = (name: string): Played => {
    const found = played.get(name) ?? scripted(name)
    played.set(name, found)
    return found
  }
  const present = () =>
    configured.filter(({ options }) => options.enabled !== false).map(({ name }) => play(name))
  return {
    named: (name) => play(name).script,
    get configured() {
      return configured
    },
    get: (name) => (configured.some((one) => one.name === name) ? play(name).server : undefined),
    all: () => present().map(({ server }) => server),
    hold: () => () => undefined,
    async apply(servers) {
      configured = servers
    },
    async stop() {
      configured = []
    },
  }
}

function scripted(name: string): Played {
  const listeners = new Set<(news: ServerNews) => void>()
  const watchers = new Set<() => void>()
  const calls: { tool: string; input: Readonly<Record<string, unknown>> }[] = []
  const notified: { method: string; params: Readonly<Record<string, unknown>> }[] = []
  let tools: readonly ServerTool[] = []
  let waiting: ServerNews[] = []
  let holds = 0
  let facts: ServerFacts = {
    name,
    transport: 'stdio',
    state: 'connecting',
    detail: null,
    connectedAt: null,
    restarts: 0,
    noise: 0,
    program: null,
    instructions: null,
    prefix: null,
    permissionRelay: false,
    stamp: { source: null, verified: false },
  }
  const become = (next: Partial<ServerFacts>) => {
    facts = { ...facts, ...next }
    for (const watch of [...watchers]) watch()
  }
  const tell = () => {
    while (holds === 0 && waiting.length > 0) {
      const [news, ...rest] = waiting
      waiting = rest
      if (news) for (const listen of [...listeners]) listen(news)
    }
  }
  const push = (news: Partial<ServerNews>) => {
    const { prefix, permissionRelay, stamp } = facts
    const from = { prefix, permissionRelay, stamp }
    waiting.push({ kind: 'message', prefix: prefix ?? 'nexo', params: null, from, ...news })
    tell()
  }
  const away = () => new SwitchboardError('platform_unavailable', `server ${name} is ${facts.state}`)
  const script: ScriptedServer = {
    up(next = {}, offered = ['send_message']) {
      tools = offered.map((one) => (typeof one === 'string' ? { name: one, arguments: null } : one))
      become({ state: 'up', detail: null, connectedAt: 1, prefix: 'nexo', ...next })
    },
    down: (detail = 'it ended') => become({ state: 'down', detail, connectedAt: null, prefix: null }),
    becomes: become,
    says: (content, meta) => push({ params: meta === undefined ? { content } : { content, meta } }),
    decides: (request_id, behavior) => push({ kind: 'verdict', params: { request_id, behavior } }),
    pushes: push,
    calls,
    texts: () => calls.map(({ input }) => input.text),
    notified,
    answer: () => ({}),
  }
  const on = <T>(set: Set<T>, one: T): Cancel => {
    set.add(one)
    return () => void set.delete(one)
  }
  const server: ChannelServer = {
    facts: () => facts,
    onNews: (listen) => on(listeners, listen),
    onChange: (listen) => on(watchers, listen),
    hold() {
      holds += 1
      let held = true
      return () => {
        if (!held) return
        held = false
        holds -= 1
        tell()
      }
    },
    async tools() {
      if (facts.state !== 'up') throw away()
      return tools
    },
    async call(tool, input) {
      if (facts.state !== 'up') throw away()
      calls.push({ tool, input })
      return { isError: false, content: [], structured: null, text: '', ...script.answer(tool, input) }
    },
    async notify(method, params) {
      if (facts.state !== 'up') throw away()
      notified.push({ method, params })
    },
  }
  return { script, server }
}
