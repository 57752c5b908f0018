// `chorus verify` against an agent of our own library, and against servers that are silent, wrong, or no servers at all.
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createAgent, createService } from '../chorus/index.ts'
import { readDelivery } from '../kit/index.ts'
import { type ChorusCheck, verifyChorusAgent, verifyChorusService } from './verify-chorus.ts'

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

/** As examples/chorus/weather-agent.mjs speaks. */
function libraryAgent(allowPrivate: boolean): Server {
  const { node } = createAgent({
    ...{ secret: 'sk_planted4711', allowPrivate },
    async onMessage(message, voice) {
      await voice.status('searching')
      await voice.toolResult(await voice.toolCall('web_search', { query: message.content }), 'nothing')
      await voice.say(`Hello ${message.sender}!`)
    },
  })
  return createServer(node)
}

async function resultsOf(checks: AsyncIterable<ChorusCheck>): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const { what, result, detail } of checks) {
    found[what] = result
    expect(detail).not.toContain('planted4711')
  }
  return found
}
const agent = (url: string, more = {}) =>
  resultsOf(verifyChorusAgent({ url, allowPrivate: true, waitMs: 50, timeoutMs: 2_000, ...more }))

describe('verify an agent', () => {
  it('[I9.verify] an agent of the library holds in every point', async () => {
    const found = await agent(await listen(libraryAgent(true)), { waitMs: 10_000 })
    expect(Object.keys(found)).toHaveLength(13)
    expect(new Set(Object.values(found))).toEqual(new Set(['holds']))
  })

  it('[I18.verify-private] names the flag and the option that open private addresses', async () => {
    const details = async (checks: AsyncIterable<ChorusCheck>) => {
      const found: string[] = []
      for await (const { detail } of checks) found.push(detail)
      return found.join('\n')
    }
    const shut = { url: 'https://127.0.0.1:1/inbox/sk_x', allowPrivate: false, waitMs: 1 }
    expect(await details(verifyChorusAgent(shut))).toContain('need --allow-private')
    expect(await details(verifyChorusService(shut))).toContain('need --allow-private')
    // One that was made without the option takes the message and does not call loopback.
    const url = await listen(libraryAgent(false))
    expect(await details(verifyChorusAgent({ url, allowPrivate: true, waitMs: 50 }))).toContain(
      'allowPrivate: true',
    )
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

  it('[I14.chorus-verify-array] one that knows mcp as the one object of the draft is not failed for it', async () => {
    const url = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        response.statusCode = body.includes('"mcp":[') ? 400 : 200
        response.end()
      })
    })
    expect(await agent(url)).toMatchObject({
      'mcp as an object is accepted': 'holds',
      'mcp as an array is accepted': 'unknown',
    })
  })

  describe('that is nearly right', () => {
    interface Habits {
      /** A second answer to a message that comes again. */
      readonly forgets?: boolean
      readonly thinksMs?: number
      /** Events after the message, as it posts them. */
      readonly thenSays?: readonly (readonly [afterMs: number, event: unknown])[]
      readonly lifecycle?: boolean
      readonly method?: string
      readonly elsewhere?: string
    }
    /** Takes what is well-formed, thinks, and posts to the callback: as its habits are. */
    const homemade = (habits: Habits) => {
      const known = new Set<string>()
      const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
      const work = async (callback: string) => {
        const to = habits.elsewhere === undefined ? callback : new URL(habits.elsewhere, callback)
        const post = (event: unknown) =>
          fetch(to, { method: habits.method ?? 'POST', body: JSON.stringify(event) }).catch(() => undefined)
        if (habits.lifecycle) await post({ type: 'lifecycle', status: 'processing' })
        await later(habits.thinksMs ?? 0)
        await post({ type: 'message', content: 'hello' })
        for (const [afterMs, event] of habits.thenSays ?? []) {
          await later(afterMs)
          await post(event)
        }
        if (habits.lifecycle) await post({ type: 'lifecycle', status: 'idle' })
      }
      return serve(async (request, response) => {
        const text = Buffer.concat(await request.toArray()).toString()
        const read = text.startsWith('{"') ? readDelivery(JSON.parse(text)) : { ok: false as const }
        if (!request.url?.endsWith('/sk_planted4711')) return void response.writeHead(404).end()
        if (!read.ok) return void response.writeHead(400).end()
        response.end()
        const { message, callback } = read.delivery
        if (known.has(message.id) && !habits.forgets) return
        known.add(message.id)
        await work(callback)
      })
    }
    // Seconds, so that a stall of the machine is not taken for silence.
    const QUICK = { waitMs: 20_000, quietMs: 1_000 }
    const failing = (found: Record<string, string>) =>
      Object.keys(found).filter((what) => found[what] === 'fails')

    it.each<[string, Habits, readonly string[]]>([
      [
        'answers twice after thinking longer than a quiet while',
        { forgets: true, thinksMs: 2_000 },
        ['and is not answered twice'],
      ],
      ['answers twice at once', { forgets: true }, ['and is not answered twice']],
      [
        'posts to another path',
        { elsewhere: '/nowhere' },
        ['something comes to the callback', 'a message is among it'],
      ],
      [
        'puts instead of posting',
        { method: 'PUT' },
        ['something comes to the callback', 'a message is among it'],
      ],
      ['says something malformed', { thenSays: [[0, { type: 'status' }]] }, ['every event is well-formed']],
    ])('[I9.verify] is found out: it %s', async (_, habits, wrong) => {
      const found = await agent(await homemade(habits), {
        ...QUICK,
        ...('elsewhere' in habits || 'method' in habits ? { waitMs: 300 } : {}),
      })
      expect(failing(found)).toEqual(wrong)
    })

    it.each<[string, Habits]>([
      [
        'says a second thing after a while',
        { thenSays: [[1_500, { type: 'message', content: 'and more' }]] },
      ],
      [
        'works on for long after its first word',
        { lifecycle: true, thenSays: [[1_500, { type: 'status', status: 'tidying up' }]] },
      ],
    ])('[I9.verify] is let pass: it %s', async (_, habits) => {
      expect(failing(await agent(await homemade(habits), QUICK))).toEqual([])
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
    const switching = await listen(
      createSocketServer((socket) => {
        const head = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
        socket.on('error', () => {}).once('data', () => socket.write(head))
      }) as never,
    )
    for (const url of [silent, garbage, switching, 'http://127.0.0.1:1/inbox/sk_planted4711']) {
      expect(await agent(url, { timeoutMs: 2_000 })).toEqual({
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
    const found = await resultsOf(verifyChorusService({ url: callback, allowPrivate: true }))
    expect(Object.keys(found)).toHaveLength(12)
    expect(new Set(Object.values(found))).toEqual(new Set(['holds']))
    expect(heard.filter((type) => type === 'message')).toHaveLength(1)
  })

  it('[I9.verify] one that says 200 to everything is found out', async () => {
    const url = await serve((request, response) => void request.resume().on('end', () => response.end()))
    expect(await resultsOf(verifyChorusService({ url, allowPrivate: true }))).toMatchObject({
      'message is accepted': 'holds',
      'error is accepted': 'holds',
      'an event without its text is answered 4xx': 'fails',
      'a wrong token is refused': 'fails',
    })
  })
})
