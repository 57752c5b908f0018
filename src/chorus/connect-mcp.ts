// Connects to the tool servers of a delivery. Their URLs come from others, so every request goes through the guard.
import type { Client } from '@modelcontextprotocol/client'
import { defined } from '../contract/index.ts'
import type { ChorusMcpServer, GuardedFetch } from '../kit/index.ts'

export interface McpConnection {
  /** Distinguishes tools of several servers: `name__tool`. */
  readonly name: string
  readonly client: Client
  close(): Promise<void>
}

const TIMEOUT_MS = 60_000
/** The time limit for telling the server that the session ends. */
const DELETE_TIMEOUT_MS = 5_000
const MAX_RESPONSE_BYTES = 8_388_608

/** Connects to all of them or to none: throws the first error and leaves nothing open. */
export async function connectMcp(
  servers: readonly ChorusMcpServer[],
  guard: { readonly fetch: GuardedFetch; readonly allowPrivate: boolean },
): Promise<readonly McpConnection[]> {
  if (servers.length === 0) return []
  const { Client: McpClient, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const connecting = await Promise.allSettled(
    servers.map(async (server, index) => {
      const client = new McpClient({ name: 'switchboard-chorus', version: '0.1.0' })
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        fetch: guardedWebFetch(guard),
      })
      await client.connect(transport)
      const close = async () => {
        // Closing alone would leave the session open at the server.
        await transport.terminateSession().catch(() => undefined)
        await client.close()
      }
      return { name: server.name ?? `mcp${index + 1}`, client, close }
    }),
  )
  const opened = connecting.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failure = connecting.find((one) => one.status === 'rejected')
  if (!failure) return opened
  await closeAll(opened)
  throw failure.reason
}

export async function closeAll(connections: readonly McpConnection[]): Promise<void> {
  await Promise.allSettled(connections.map((one) => one.close()))
}

/** The guard in the form of the web's fetch. An endless stream is not supported and gets 405. */
function guardedWebFetch(guard: { readonly fetch: GuardedFetch; readonly allowPrivate: boolean }) {
  return async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const method = init.method ?? 'GET'
    if (method !== 'POST' && method !== 'DELETE') return new Response(null, { status: 405 })
    const headers = Object.fromEntries(new Headers(init.headers))
    const answer = await guard.fetch({
      url: input instanceof Request ? input.url : String(input),
      method,
      headers,
      body: typeof init.body === 'string' ? init.body : '',
      timeoutMs: method === 'DELETE' ? DELETE_TIMEOUT_MS : TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      allowPrivate: guard.allowPrivate,
      allowHttp: false,
      ...defined({ signal: init.signal ?? undefined }),
    })
    const shown = Object.entries(answer.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value] as [string, string]] : [],
    )
    const bare = answer.status === 204 || answer.status === 202 || answer.status === 304
    return new Response(bare ? null : new Uint8Array(answer.body), { status: answer.status, headers: shown })
  }
}
