// `chorus verify` against our own example, and against servers that are silent, wrong, or no servers at all.
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { weatherAgent } from '../../examples/chorus/weather-agent.ts'
import { createService } from '../chorus/index.ts'
import { type ChorusCheck, verifyChorusAgent, verifyChorusService } from './chorus-verify.ts'

const servers: Pick<Server, 'listen' | 'close' | 'address'>[] = []
async function listen(server: Pick<Server, 'listen' | 'close' | 'address'>): Promise<string> {
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox/sk_planted4711`
}
const serve = (answer: RequestListener) => listen(createServer(answer))
afterEach(() => {
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) (server as Server).closeAllConnections()
    server.close()
  }
})

async function told(checks: AsyncIterable<ChorusCheck>): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { what, result, detail } of checks) {
    found[what] = result
    expect(detail).not.toContain('planted4711')
  }
  return found
}
const agent = (url: string, more = {}) =>
  told(verifyChorusAgent({ url, allowPrivate: true, waitMs: 50, timeoutMs: 2_000, ...more }))

describe('verify an agent', () => {
  it('[I9.verify] the example holds in every point', async () => {
    const found = await agent(await listen(weatherAgent('sk_planted4711', true)), { waitMs: 10_000 })
    expect(Object.keys(found)).toHaveLength(12)
    expect(new Set(Object.values(found))).toEqual(new Set(['holds']))
  })

  it('[I9.verify] one that says 200 to everything and nothing more is found out', async () => {
    const url = await serve((request, response) => void request.resume().on('end', () => response.end()))
    const found = await agent(url)
    expect(found).toMatchObject({
      'a delivery is answered 2xx': 'holds',
      'something comes to the callback': 'fails',
      'a message is among it': 'fails',
      'and is not answered twice': 'unknown',
      'a missing field is answered 4xx': 'fails',
      'a wrong secret is refused': 'fails',
    })
  })

  it('what redirects or breaks is told, and its callbacks are not waited for', async () => {
    for (const status of [302, 500]) {
      const url = await serve((request, response) =>
        request.resume().on('end', () => response.writeHead(status, { location: '/' }).end()),
      )
      const found = await agent(url, { waitMs: 600_000 })
      expect(found).toMatchObject({
        'a delivery is answered 2xx': 'fails',
        'something comes to the callback': 'unknown',
      })
    }
  })

  it('[I9.verify] what gives no answer is asked once, not a dozen times', async () => {
    let asked = 0
    const silent = await serve(() => {
      asked += 1
    })
    const garbage = await listen(
      createSocketServer((socket) => void socket.on('error', () => {}).end('garbage\r\n\r\n')) as never,
    )
    for (const url of [silent, garbage, 'http://127.0.0.1:1/inbox/sk_planted4711']) {
      expect(await agent(url, { timeoutMs: 100 })).toEqual({
        'a delivery is answered 2xx': 'fails',
        'everything else': 'unknown',
      })
    }
    expect(asked).toBe(1)
  })

  it('listens where it is told to', async () => {
    const taken = createServer()
    await listen(taken)
    const listenPort = (taken.address() as AddressInfo).port
    await expect(agent('http://127.0.0.1:1/x', { listenPort })).rejects.toThrow(/EADDRINUSE/)
  })
})

describe('verify a service', () => {
  it('[I9.verify] a callback of the library holds in every point', async () => {
    const heard: string[] = []
    let callback = ''
    const base = await listen(createServer((request, response) => service.node(request, response)))
    const service = createService({
      callbackBase: base,
      onEvent: (event) => void heard.push(event.type),
      async fetch({ body }) {
        callback = (JSON.parse(String(body)) as { callback: string }).callback
        return { status: 200, headers: {}, body: Buffer.alloc(0), truncated: false }
      },
    })
    await service.deliver('https://agent.example.com/x', {
      channel: { id: 'c' },
      message: { id: 'm', sender: 'a', content: 'x' },
    })
    const found = await told(verifyChorusService({ url: callback, allowPrivate: true }))
    expect(Object.keys(found)).toHaveLength(9)
    expect(new Set(Object.values(found))).toEqual(new Set(['holds']))
    expect(heard.filter((type) => type === 'message')).toHaveLength(1)
  })
})
