// A Slack for the bench: the few methods that the adapter calls, and a socket that sends envelopes as fast as they are
// acknowledged, up to a limit at once. It keeps and checks nothing, because the other side is measured.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type WebSocket, WebSocketServer } from 'ws'

export interface BenchSlack {
  readonly apiUrl: string
  /** Resolves when a socket is connected. */
  connected(): Promise<void>
  /** Sends each body as an envelope, at most `window` unacknowledged. Returns the time of each. */
  deliver(bodies: readonly string[], window: number): Promise<Float64Array>
  stop(): Promise<void>
}

const TEAM = { team: 'Bench', team_id: 'T00000001' }
const ANSWERS: Readonly<Record<string, object>> = {
  'auth.test': { ...TEAM, user: 'bench', user_id: 'U99999999', bot_id: 'B99999999' },
  'users.info': { user: { profile: { display_name: 'person' } } },
  'users.conversations': { channels: [] },
  'conversations.history': { messages: [], has_more: false },
  'conversations.replies': { messages: [], has_more: false },
}

export async function startBenchSlack(): Promise<BenchSlack> {
  let url = ''
  let socket: WebSocket | null = null
  let came: () => void = () => undefined
  const standing = new Promise<void>((resolve) => {
    came = resolve
  })
  const server = createServer((request, response) => {
    request.resume()
    const method = (request.url ?? '').slice('/api/'.length)
    const answer =
      method === 'apps.connections.open'
        ? { url: `${url.replace('http', 'ws')}/link` }
        : (ANSWERS[method] ?? {})
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ok: true, ...answer }))
  })
  let acknowledged: (envelope: number) => void = () => undefined
  let ended: () => void = () => undefined
  const sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: 1_048_576,
    perMessageDeflate: false,
  })
  server.on('upgrade', (request, raw, head) =>
    sockets.handleUpgrade(request, raw, head, (made) => {
      socket = made
      made.on('message', (data) =>
        acknowledged(Number((JSON.parse(String(data)) as { readonly envelope_id: string }).envelope_id)),
      )
      made.on('close', () => ended())
      const hello = { type: 'hello', num_connections: 1, connection_info: { app_id: 'A00000001' } }
      made.send(JSON.stringify(hello))
      came()
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    apiUrl: `${url}/api/`,
    connected: () => standing,
    deliver(bodies, window) {
      const link = socket
      if (link === null) throw new Error('nobody is connected')
      const sentAt = new Float64Array(bodies.length)
      const took = new Float64Array(bodies.length)
      let next = 0
      let done = 0
      return new Promise((resolve, reject) => {
        const give = () => {
          const at = next
          const body = bodies[at]
          if (body === undefined) return
          next += 1
          sentAt[at] = performance.now()
          const about = `"envelope_id":"${at}","type":"events_api","accepts_response_payload":false`
          link.send(`{${about},"retry_attempt":0,"retry_reason":"","payload":${body}}`)
        }
        acknowledged = (at) => {
          took[at] = performance.now() - (sentAt[at] ?? 0)
          done += 1
          if (done === bodies.length) resolve(took)
          else give()
        }
        ended = () => reject(new Error('the socket was left while it was measured'))
        for (let at = 0; at < window; at++) give()
      })
    },
    async stop() {
      socket?.terminate()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
