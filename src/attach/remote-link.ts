// The shim's frames over a WebSocket, to a daemon on another machine: one frame per message, with a bearer token.
import { MAX_FRAME_BYTES, SwitchboardError } from '../contract/index.ts'
import type { FrameLink, LinkEvents, LinkFailure, OpenLink } from './frame-link.ts'

export interface RemoteTarget {
  /** As `attachUrl` returns it. */
  readonly url: string
  /**
   * Read for every connection, so that a new token needs no restart of the host. Throws the reason if there is none.
   */
  token(): string
}

const CONNECT_MS = 10_000
const REFUSAL_BYTES = 8_192

/**
 * Returns the address of `/attach` from a person's URL: http or ws, with or without the path. Throws `input_invalid`.
 */
export function attachUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !/^(https?|wss?):$/.test(url.protocol))
    throw new SwitchboardError('input_invalid', `"${given}" is no address of a daemon`, {
      hint: 'write https://sb.example.com or wss://sb.example.com/attach',
    })
  if (url.username !== '' || url.password !== '')
    throw new SwitchboardError('input_invalid', 'a credential does not belong into the address', {
      hint: 'put the token into a file and name it with --token-file, or set SWITCHBOARD_TOKEN',
    })
  url.protocol = url.protocol.replace('http', 'ws')
  const path = url.pathname.replace(/(?<!\/)\/+$/, '')
  url.pathname = path.endsWith('/attach') ? path : `${path}/attach`
  url.hash = ''
  return url.href
}

export function remoteLink(target: RemoteTarget): OpenLink {
  return (events) => {
    const link: { inner: FrameLink | null; over: boolean } = { inner: null, over: false }
    connect(target, events, link).catch((thrown) => {
      events.failed({
        kind: 'refused',
        problem: thrown instanceof Error ? thrown.message : String(thrown),
      })
      events.closed()
    })
    const leave = (how: 'end' | 'destroy') => () => {
      link.over = true
      link.inner?.[how]()
    }
    return { send: (text) => link.inner?.send(text), end: leave('end'), destroy: leave('destroy') }
  }
}

async function connect(
  target: RemoteTarget,
  events: LinkEvents,
  link: { inner: FrameLink | null; over: boolean },
): Promise<void> {
  const authorization = `Bearer ${target.token()}`
  // Loaded only here, because a shim on the daemon's machine does not need it.
  const { WebSocket } = await import('ws')
  if (link.over) return events.closed()
  const socket = new WebSocket(target.url, {
    headers: { authorization },
    handshakeTimeout: CONNECT_MS,
    maxPayload: MAX_FRAME_BYTES,
    perMessageDeflate: false,
    followRedirects: false,
  })
  let told = false
  const failed = (why: LinkFailure) => {
    if (!told) events.failed(why)
    told = true
  }
  socket.on('open', events.opened)
  socket.on('message', (data, isBinary) => {
    if (!isBinary) events.line(String(data))
  })
  socket.on('unexpected-response', (request, response) => {
    const chunks: Buffer[] = []
    let length = 0
    response.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= REFUSAL_BYTES) chunks.push(chunk)
    })
    response.on('error', () => undefined)
    response.on('close', () => {
      failed(refusalOf(response.statusCode ?? 0, String(Buffer.concat(chunks))))
      request.destroy()
      socket.terminate()
    })
  })
  socket.on('error', (error: NodeJS.ErrnoException) => {
    const absent = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH'].includes(error.code ?? '')
    const problem = `no daemon answers at ${hostOf(target.url)} (${error.code ?? error.message})`
    failed({ kind: absent ? 'absent' : 'broken', problem })
  })
  socket.on('close', (code) => {
    if (code === 1009) failed({ kind: 'broken', problem: 'a frame was too large for the daemon' })
    events.closed()
  })
  link.inner = {
    send: (text) => {
      if (socket.readyState === 1) socket.send(text.trimEnd(), () => undefined)
    },
    end: () => socket.close(),
    destroy: () => socket.terminate(),
  }
}

/** Describes the HTTP answer that came instead of a connection. */
function refusalOf(status: number, body: string): LinkFailure {
  const said = wordsOf(body)
  const problem = said ?? `HTTP ${status} is no answer of a Switchboard at this address`
  // The daemon is busy or draining, or a proxy has lost it. Another try may succeed.
  const passes = status === 429 || status >= 500
  return { kind: passes ? 'broken' : 'refused', problem }
}

function wordsOf(body: string): string | null {
  try {
    const { error, hint } = JSON.parse(body) as { error?: unknown; hint?: unknown }
    if (typeof error !== 'string') return null
    return typeof hint === 'string' ? `${error} (${hint})` : error
  } catch {
    return null
  }
}

function hostOf(url: string): string {
  return new URL(url).host
}
