// `/attach` from outside: who may connect, the answers to bad frames, and the end of connections.
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { type FramePipe, SwitchboardError } from '../contract/index.ts'
import { type Opened, openServer } from './fixtures/open-server.ts'

let open: Opened | null = null
afterEach(async () => {
  await open?.server.close({ graceMs: 100 })
  open = null
})

interface Peer {
  readonly pipe: FramePipe
  readonly lines: string[]
  readonly broken: string[]
  closed: boolean
}

/** A server whose attach endpoint accepts one token, `good`, and records the frames. */
async function attachable(door = true) {
  const peers: Peer[] = []
  const attach = {
    async admit(bearer: string) {
      if (bearer === 'other')
        throw new SwitchboardError('forbidden', 'this credential belongs to another agent')
      if (bearer !== 'good') throw new SwitchboardError('unauthorized', 'this token is not known here')
      return (pipe: FramePipe) => {
        const peer: Peer = { pipe, lines: [], broken: [], closed: false }
        peers.push(peer)
        return {
          line: (text: string) => void peer.lines.push(text),
          broken(reason: string) {
            peer.broken.push(reason)
            pipe.end()
          },
          closed() {
            peer.closed = true
          },
        }
      }
    },
  }
  open = await openServer(door ? { attach } : {})
  return { opened: open, peers, url: `ws://127.0.0.1:${open.port}/attach` }
}

interface Met {
  readonly socket: WebSocket
  readonly said: string[]
  readonly ended: Promise<number>
}

function meet(url: string, headers: Record<string, string> = { authorization: 'Bearer good' }): Promise<Met> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers })
    const said: string[] = []
    socket.on('message', (data) => void said.push(String(data)))
    const ended = new Promise<number>((end) => socket.on('close', (code) => end(code)))
    socket.on('error', (error) => reject(error))
    socket.on('open', () => resolve({ socket, said, ended }))
  })
}

async function until(what: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1_000 && !what(); tries++) await new Promise((go) => setTimeout(go, 5))
  expect(what()).toBe(true)
}

const shake = (more: string, host = 'localhost') =>
  `GET /attach HTTP/1.1\r\nhost: ${host}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
  `sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n${more}\r\n`
const GOOD = 'authorization: Bearer good\r\n'

describe('/attach', () => {
  it('[S14.http-attach] carries frames both ways, one a message, and is told of the end', async () => {
    const { url, peers } = await attachable()
    const { socket, said } = await meet(url)
    socket.send('{"t":"hello"}')
    await until(() => peers[0]?.lines.length === 1)
    expect(peers[0]?.lines).toEqual(['{"t":"hello"}'])
    peers[0]?.pipe.send('{"t":"welcome"}\n')
    await until(() => said.length === 1)
    expect(said).toEqual(['{"t":"welcome"}'])
    socket.close()
    await until(() => peers[0]?.closed === true)
  })

  it.each([
    ['no token', '', 401, 'needs a token'],
    ['a wrong token', 'authorization: Bearer bad\r\n', 401, 'not known here'],
    ['a token of another agent', 'authorization: Bearer other\r\n', 403, 'another agent'],
    ['a page of another site', `${GOOD}origin: https://evil.example\r\n`, 403, 'page of another site'],
    ['a page without an origin', `${GOOD}origin: null\r\n`, 403, 'page of another site'],
    ['a cross-site fetch', `${GOOD}sec-fetch-site: cross-site\r\n`, 403, 'page of another site'],
  ])('%s is refused before the handshake, in words', async (_name, more, status, words) => {
    const { opened, peers } = await attachable()
    const answer = await opened.raw(shake(more))
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toContain(words)
    expect(peers).toEqual([])
  })

  it('a Host that is not ours is refused, our own origin is not', async () => {
    const { opened, url } = await attachable()
    expect(await opened.raw(shake(GOOD, 'evil.example'))).toMatch(/^HTTP\/1.1 403 /)
    const { socket } = await meet(url, { authorization: 'Bearer good', origin: 'https://sb.example.com' })
    socket.terminate()
  })

  it('without a handshake says what it is for, without a door behind it is not there', async () => {
    const { opened } = await attachable()
    const plain = await opened.fetch('/attach')
    expect(plain.status).toBe(426)
    expect(await plain.json()).toMatchObject({ error: 'hosts attach here over a WebSocket' })
    await opened.server.close({ graceMs: 0 })
    const closed = await attachable(false)
    expect(await closed.opened.raw(shake(GOOD))).toMatch(/^HTTP\/1.1 404 /)
  })

  it('a broken handshake gets 400', async () => {
    const { opened } = await attachable()
    const answer = await opened.raw(
      shake(GOOD).replace('sec-websocket-version: 13', 'sec-websocket-version: 7'),
    )
    expect(answer).toMatch(/^HTTP\/1.1 4/)
  })

  it('bytes that are no frame of a WebSocket, too long a message and a binary one end the connection', async () => {
    const { opened, url, peers } = await attachable()
    const garbage = await opened.raw(`${shake(GOOD)}\u007f\u007f\u007fGET / HTTP/1.1\r\n\r\n`)
    expect(garbage).toMatch(/^HTTP\/1.1 101 /)
    await until(() => peers[0]?.closed === true)
    const long = await meet(url)
    long.socket.send('x'.repeat(8 * 1_048_576 + 1))
    expect(await long.ended).toBe(1009)
    await until(() => peers[1]?.closed === true)
    expect(peers[1]?.lines).toEqual([])
    const binary = await meet(url)
    ;(binary.socket as unknown as { send(data: Buffer): void }).send(Buffer.from('{}'))
    await binary.ended
    expect(peers[2]?.broken).toEqual(['frames are text'])
  })

  it('a draining daemon lets nobody in, and its end ends those who do not answer too', async () => {
    const { opened, url, peers } = await attachable()
    const met = await meet(url)
    // It does not read any more, so it will not answer the close.
    ;(met.socket as unknown as { pause(): void }).pause()
    opened.server.drain('all')
    expect(await opened.raw(shake(GOOD))).toMatch(/^HTTP\/1.1 503 [\s\S]*shutting down/)
    await opened.server.close({ graceMs: 5_000 })
    await until(() => peers[0]?.closed === true)
  })
})

describe('other offers to change the protocol', () => {
  it('are overlooked: the request is served as a plain one, body and all, and the connection goes on', async () => {
    const { opened } = await attachable()
    const offer = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n'
    const hook = `POST /hooks/demo HTTP/1.1\r\nhost: localhost\r\n${offer}content-length: 5\r\n\r\nhello`
    const last = 'GET /hooks/demo HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n'
    const answers = await opened.raw(`${hook}${last}`)
    expect(answers.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2)
    expect(answers).toContain('"body":"hello"')
    const chunked = hook.replace('content-length: 5\r\n\r\nhello', 'transfer-encoding: chunked\r\n\r\n')
    expect(await opened.raw(`${chunked}5\r\nhello\r\n0\r\n\r\n${last}`)).toContain('"body":"hello"')
    const elsewhere = shake(GOOD).replace('/attach', '/nothing').replace('Upgrade\r', 'Upgrade, close\r')
    expect(await opened.raw(elsewhere)).toMatch(/^HTTP\/1.1 404 /)
  })
})
