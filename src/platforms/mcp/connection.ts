// One live connection to a channel server: the handshake, its declaration, its notifications, and our calls. It ends
// once. The supervisor opens the next one.
import type { Client, Transport } from '@modelcontextprotocol/client'
import {
  asSwitchboardError,
  type Cancel,
  type Clock,
  defined,
  type ServerPush,
  type ServerTool,
  type ServerToolResult,
  SwitchboardError,
} from '../../contract/index.ts'
import type { GroupWatcher } from '../../kit/processes/index.ts'
import { type DeclaredChannel, readCapability } from './capability.ts'
import { createChildTransport } from './child-transport.ts'
import type { Launch, Timings } from './config.ts'
import { createHttpTransport } from './http-transport.ts'
import { tapTransport } from './tap-transport.ts'
import { callFault, readToolResult } from './tool-result.ts'

export interface ConnectionDeps {
  readonly clock: Clock
  readonly timings: Timings
  readonly version: string
  readonly news: (news: ServerPush) => void
  readonly noise: () => void
  /** Whether so many notifications wait that reading should stop. */
  readonly crowded: () => boolean
  readonly stderr: (line: string) => void
  readonly guard: GroupWatcher['guard']
  readonly redact: (text: string) => string
  /** Ends it at any time, also during the handshake. */
  readonly signal: AbortSignal
}

export interface Connection {
  readonly declared: DeclaredChannel
  /** Whether it declares no tools. */
  readonly oneWay: boolean
  readonly program: { readonly name: string; readonly version: string } | null
  readonly instructions: string | null
  /** Resolves with the reason when the connection is over. */
  readonly ended: Promise<string>
  tools(): Promise<readonly ServerTool[]>
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    options: { readonly timeoutMs: number },
  ): Promise<ServerToolResult>
  notify(method: string, params: Readonly<Record<string, unknown>>): Promise<void>
  /** Throws if there is no answer in time. */
  ping(timeoutMs: number): Promise<void>
  pause(): void
  resume(): void
  close(): Promise<void>
}

/** The most arguments of one tool that are read. */
const MOST_ARGUMENTS = 200
/** The most characters of instructions that are passed on. */
const MOST_INSTRUCTIONS = 8_000
const MAX_TOOL_PAGES = 50
/** The SDK's own timers do not follow the driven clock, so they are set to never fire. */
const NEVER_MS = 2_147_483_647

interface Opened {
  readonly transport: Transport
  readonly pause: () => void
  readonly resume: () => void
  readonly farewell: () => Promise<void>
  readonly ending: () => string | null
}

/** Throws `platform_unavailable` if `initialize` is not answered. The started process has then ended. */
export async function openConnection(launch: Launch, deps: ConnectionDeps): Promise<Connection> {
  const { clock, timings } = deps
  let over: (reason: string) => void = () => undefined
  const ended = new Promise<string>((resolve) => {
    over = resolve
  })
  let endReason: string | null = null
  const { Client: McpClient } = await import('@modelcontextprotocol/client')
  const client = new McpClient({ name: 'switchboard', version: deps.version }, { capabilities: {} })
  const deaf = (reason: string) => {
    endReason ??= reason
    client.close().catch(() => undefined)
  }
  let isUp = false
  let closing: Promise<void> | null = null
  const heard = (news: ServerPush) => {
    if (isUp) return deps.news(news)
    // It ends without a declaration, so these would be refused. Beyond the bound they are only counted.
    if (closing !== null && deps.crowded()) return deps.noise()
    deps.news(news)
    // Its answer to `initialize` is behind the unread notifications. It times out and is ended.
    if (deps.crowded()) opened.pause()
  }
  const opened = await open(launch, { ...deps, news: heard }, deaf)
  deps.signal.addEventListener('abort', () => void close(), { once: true })
  const seen: { experimental: unknown } = { experimental: undefined }
  let toolList: Promise<readonly ServerTool[]> | null = null
  const tapped = tapTransport(opened.transport, {
    news: heard,
    noise: deps.noise,
    experimental: (value) => {
      seen.experimental = value
    },
    toolsChanged: () => {
      toolList = null
    },
  })
  let fault: string | null = null
  client.onclose = () => over(endReason ?? opened.ending() ?? fault ?? 'the connection was closed')
  client.onerror = (error) => {
    fault = deps.redact(callFault(error, 'initialize', deps.redact).message)
    // Bad lines of a child are counted by its transport. Over HTTP the SDK reports them.
    if (launch.transport === 'http' && /JSON|Zod|invalid/i.test(`${error.name} ${error.message}`))
      deps.noise()
  }

  /** Applies a deadline on the given clock. A late promise of the SDK is ignored. */
  const within = async <T>(
    ms: number,
    work: (signal: AbortSignal) => Promise<T>,
    late: () => Error,
  ): Promise<T> => {
    const abort = new AbortController()
    let cancel: Cancel = () => undefined
    const deadline = new Promise<never>((_resolve, reject) => {
      cancel = clock.after(ms, () => {
        reject(late())
        abort.abort()
      })
    })
    const working = work(abort.signal)
    working.catch(() => undefined)
    try {
      return await Promise.race([working, deadline])
    } finally {
      cancel()
    }
  }

  const close = () => {
    endReason ??= 'it was ended'
    closing ??= within(timings.graceMs, opened.farewell, () => late('the end of the session'))
      .catch(() => undefined)
      .then(() => closeAll(client, opened))
      .then(() => over(endReason ?? 'it was ended'))
    return closing
  }

  try {
    if (deps.signal.aborted) unanswered('it was ended')
    await within(
      timings.initializeMs,
      () => Promise.race([client.connect(tapped, { timeout: NEVER_MS }), ended.then(unanswered)]),
      () =>
        new SwitchboardError(
          'platform_unavailable',
          `no answer to initialize within ${timings.initializeMs} ms`,
        ),
    )
  } catch (thrown) {
    await close()
    if (thrown instanceof SwitchboardError) throw thrown
    const { message } = asSwitchboardError(thrown)
    // The reason of the process's end is more precise than "Connection closed".
    const told = (/connection closed/i.test(message) ? opened.ending() : null) ?? deps.redact(message)
    throw new SwitchboardError('platform_unavailable', `the handshake failed: ${told}`)
  }

  const listTools = async (): Promise<readonly ServerTool[]> => {
    if (client.getServerCapabilities()?.tools === undefined) return []
    const tools: ServerTool[] = []
    let cursor: string | undefined
    for (let page = 0; page < MAX_TOOL_PAGES; page++) {
      const params = defined({ cursor })
      const listed = await client.request({ method: 'tools/list', params }, { timeout: NEVER_MS })
      tools.push(
        ...listed.tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsOf(inputSchema) })),
      )
      cursor = listed.nextCursor
      if (cursor === undefined) break
    }
    return tools
  }
  const version = client.getServerVersion()
  const instructions = client.getInstructions()

  isUp = true
  return {
    declared: readCapability(seen.experimental),
    oneWay: client.getServerCapabilities()?.tools === undefined,
    program:
      version === undefined
        ? null
        : {
            name: deps.redact(version.name).slice(0, 200),
            version: deps.redact(version.version).slice(0, 100),
          },
    instructions:
      instructions === undefined || instructions.trim() === ''
        ? null
        : deps.redact(instructions.slice(0, MOST_INSTRUCTIONS)),
    ended,
    async tools() {
      toolList ??= within(timings.pingTimeoutMs, listTools, () => late('tools/list'))
      const asked = toolList
      try {
        return await asked
      } catch (thrown) {
        if (toolList === asked) toolList = null
        throw new SwitchboardError('platform_unavailable', deps.redact(asSwitchboardError(thrown).message))
      }
    },
    async call(tool, input, { timeoutMs }) {
      try {
        const answer = await within(
          timeoutMs,
          (signal) =>
            client.request(
              { method: 'tools/call', params: { name: tool, arguments: { ...input } } },
              { timeout: NEVER_MS, signal },
            ),
          () => new SwitchboardError('outcome_unknown', `${tool} did not answer within ${timeoutMs} ms`),
        )
        return readToolResult(answer, deps.redact)
      } catch (thrown) {
        throw callFault(thrown, tool, deps.redact)
      }
    },
    async notify(method, params) {
      try {
        await within(
          timings.writeTimeoutMs,
          () => client.notification({ method, params: { ...params } }),
          () => late(method),
        )
      } catch (thrown) {
        throw callFault(thrown, method, deps.redact)
      }
    },
    async ping(timeoutMs) {
      // Any answer proves life, also "method not found".
      await within(
        timeoutMs,
        () => client.request({ method: 'ping' }, { timeout: NEVER_MS }),
        () => late('ping'),
      ).catch((thrown: unknown) => {
        if (thrown instanceof SwitchboardError) throw thrown
      })
    },
    pause: opened.pause,
    resume: opened.resume,
    close,
  }
}

function late(what: string): SwitchboardError {
  return new SwitchboardError('outcome_unknown', `${what}: no answer in time`)
}

function unanswered(reason: string): never {
  throw new SwitchboardError('platform_unavailable', reason)
}

async function closeAll(client: Client, opened: Opened): Promise<void> {
  await client.close().catch(() => undefined)
  await opened.transport.close().catch(() => undefined)
}

async function open(launch: Launch, deps: ConnectionDeps, deaf: (reason: string) => void): Promise<Opened> {
  const { clock, timings } = deps
  if (launch.transport === 'http') {
    const http = await createHttpTransport(launch, {
      clock,
      headTimeoutMs: timings.initializeMs,
      deaf,
      news: deps.news,
    })
    return { ...http, ending: () => null }
  }
  const { graceMs, writeTimeoutMs } = timings
  const { noise, stderr, guard } = deps
  const child = createChildTransport(launch, { clock, graceMs, writeTimeoutMs, noise, stderr, guard })
  const { pause, resume, ending } = child
  return { transport: child, pause, resume, ending, farewell: async () => undefined }
}

/** Returns the argument names that a schema lists, or null if it lists none. */
function argumentsOf(schema: { readonly properties?: unknown }): readonly string[] | null {
  const { properties } = schema
  if (typeof properties !== 'object' || properties === null) return null
  const names = Object.keys(properties).slice(0, MOST_ARGUMENTS)
  return names.length === 0 ? null : names
}
