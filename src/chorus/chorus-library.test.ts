// The library under trouble: endless bodies, dead callbacks, and one dead tool server among several.
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { GuardedFetch, GuardedResponse } from '../kit/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import * as library from './index.ts'
import { createAgent, deliver, SwitchboardError } from './index.ts'

const delivery = {
  channel: { id: 'C04ABCDEF' },
  message: { id: 'msg_1', sender: 'alice', content: 'hello' },
  callback: 'https://slack-adapter.example.com/cb/tok_abc123',
}
const post = (body: RequestInit['body'], headers = {}) =>
  new Request('https://agent.example.com/inbox/sk_x', {
    method: 'POST',
    body: body ?? null,
    headers,
    duplex: 'half',
  } as RequestInit)
const answer = (status: number, body = ''): GuardedResponse => ({
  status,
  headers: { 'content-type': 'application/json', 'retry-after': '0' },
  body: Buffer.from(body),
  truncated: false,
})

describe('the door', () => {
  it('[S8.library] every export is on its page, and an error can be told by its class', async () => {
    const page = readFileSync(new URL('../../docs/guide/chorus-library.md', import.meta.url), 'utf8')
    expect(Object.keys(library).filter((name) => !page.includes(name))).toEqual([])
    const refused = await deliver('https://agent.example.com/inbox/sk_x', delivery, {
      fetch: async () => answer(422),
    }).catch((thrown: unknown) => thrown)
    expect(refused).toBeInstanceOf(SwitchboardError)
  })
})

describe('the secret', () => {
  it.each([
    ['empty', ''],
    ['of two segments', 'sk/x'],
    ['that a URL spells otherwise', 'sk x'],
    ['that is no segment at all', '..'],
    ['that is a query', 'sk?x'],
    ['that was read from nowhere', undefined],
  ])(
    '[S8.library] one %s would open the door or keep it shut for ever: it is refused at once',
    (_, secret) => {
      const options = { onMessage: () => undefined, secret } as Parameters<typeof createAgent>[0]
      expect(() => createAgent(options)).toThrow(expect.objectContaining({ code: 'config_invalid' }))
    },
  )

  it('[S8.library] any other one lets in whoever has it, and nobody else', async () => {
    for (const secret of ['sk_x', "~sk-1.2!$&'()*+,;=:@", 'sk%20x']) {
      const agent = createAgent({ onMessage: () => undefined, secret, fetch: async () => answer(200) })
      const at = (path: string) =>
        agent.fetch(new Request(`https://a.example.com/${path}`, { method: 'POST', body: '{}' }))
      expect((await at(`inbox/${secret}`)).status).toBe(400)
      expect((await at(`inbox/${secret}/`)).status).toBe(404)
      expect((await at('inbox/')).status).toBe(404)
    }
  })
})

describe('a body without end', () => {
  it('[S8.library] is not read past the limit, whether it names its length or not', async () => {
    let given = 0
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          given += 65_536
          controller.enqueue(new Uint8Array(65_536))
        },
      })
    const agent = createAgent({ onMessage: () => undefined })
    expect((await agent.fetch(post(endless()))).status).toBe(413)
    expect(given).toBeLessThan(3_000_000)
    given = 0
    expect((await agent.fetch(post(endless(), { 'content-length': '9999999999' }))).status).toBe(413)
    expect(given).toBeLessThan(500_000)
  })
})

describe('a body without end, at the handler for Node', () => {
  const opened = async () => {
    const agent = createAgent({ onMessage: () => undefined })
    const server = createServer(agent.node)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return { server, port: (server.address() as AddressInfo).port }
  }

  it.each([
    ['endless', {}],
    ['said to be long', { 'content-length': '9999999999' }],
  ])('[S8.library] %s: 413 while the peer still speaks, and then the connection ends', async (_, headers) => {
    const { server, port } = await opened()
    try {
      const outgoing = request({ host: '127.0.0.1', port, method: 'POST', path: '/inbox/sk_x', headers })
      const speak = () => {
        if (!outgoing.destroyed) outgoing.write(Buffer.alloc(65_536), () => setImmediate(speak))
      }
      const answered = new Promise<string>((resolve, reject) => {
        outgoing.on('error', reject)
        outgoing.on('response', (response) => {
          response.resume()
          response.on('end', () => resolve(`${response.statusCode} ${response.headers.connection}`))
        })
      })
      const closed = new Promise<void>((resolve) => outgoing.on('close', resolve))
      speak()
      expect(await answered).toBe('413 close')
      await closed
    } finally {
      server.close()
    }
  })

  it('[S8.library] one that stops speaking over the limit is answered, too', async () => {
    const { server, port } = await opened()
    const outgoing = request({ host: '127.0.0.1', port, method: 'POST', path: '/inbox/sk_x' })
    outgoing.on('error', () => undefined)
    outgoing.write(Buffer.alloc(1_048_577))
    const status = await new Promise((resolve) => {
      outgoing.on('response', (response) => resolve(response.statusCode))
    })
    expect(status).toBe(413)
    outgoing.destroy()
    server.close()
  })
})

describe('a dead callback', () => {
  it('[S8.library] what is not waited for ends nobody, and is told to onLost', async () => {
    const lost: string[] = []
    const agent = createAgent({
      onMessage(_, voice) {
        void voice.say('one')
        void voice.toolCall('two')
      },
      onLost: (event, error) => lost.push(`${event.type} ${error.message}`),
      fetch: async () => answer(410),
    })
    await agent.fetch(post(JSON.stringify(delivery)))
    await agent.settled()
    expect(lost.map((one) => one.split(' ')[0])).toEqual(['lifecycle', 'message', 'tool_call', 'lifecycle'])
    expect(lost.join()).not.toContain('tok_abc123')
  })
})

describe('a runtime that ends what nobody waits for', () => {
  const context = () => {
    const waitedFor: Promise<unknown>[] = []
    return { waitedFor, waitUntil: (work: Promise<unknown>) => void waitedFor.push(work) }
  }

  it.each([
    ['second', (given: object) => [given]],
    ['third', (given: object) => [{ SECRET: 'of the environment' }, given]],
  ])('[S8.library] is told to wait for what was acknowledged, by its %s argument', async (_, rest) => {
    const said: string[] = []
    let finish = () => {}
    const held = new Promise<void>((resolve) => {
      finish = resolve
    })
    const agent = createAgent({
      async onMessage(_message, voice) {
        await held
        await voice.say('done')
      },
      fetch: async ({ body }) => {
        said.push((JSON.parse(String(body)) as { type: string }).type)
        return answer(200)
      },
    })
    const given = context()
    expect((await agent.fetch(post(JSON.stringify(delivery)), ...rest(given))).status).toBe(200)
    expect(given.waitedFor).toHaveLength(1)
    finish()
    await Promise.all(given.waitedFor)
    expect(said).toEqual(['lifecycle', 'message', 'lifecycle'])
    expect((await agent.fetch(post('{'), ...rest(given))).status).toBe(400)
    expect(given.waitedFor).toHaveLength(1)
  })
})

describe('a callback that is away for a while', () => {
  const spoken = (retryAfter: string) => {
    const clock = createTestClock()
    const began = clock.now()
    const tries: number[] = []
    const lost: string[] = []
    const agent = createAgent({
      onMessage: () => undefined,
      onLost: (event) => lost.push(event.type),
      fetch: async () => {
        tries.push(clock.now() - began)
        return { ...answer(503), headers: { 'retry-after': retryAfter } }
      },
      clock,
    })
    return { agent, clock, tries, lost }
  }

  it.each([
    ['0', [0, 250, 1_250, 5_250, 20_250]],
    ['2', [0, 2_000, 4_000, 8_000, 23_000]],
  ])(
    '[S8.library] is tried again with growing pauses; a Retry-After of %s s only makes them longer',
    async (retryAfter, at) => {
      const { agent, clock, tries, lost } = spoken(retryAfter)
      await agent.fetch(post(JSON.stringify(delivery)))
      await clock.advance(at.at(-1) ?? 0)
      expect(tries.slice(0, 5)).toEqual(at)
      await clock.advance(60_000)
      await agent.settled()
      expect(lost).toEqual(['lifecycle', 'lifecycle'])
    },
  )
})

describe('tool servers', () => {
  it('[S8.library] are connected once however often they are asked for, and ended; a dead one leaves none open', async () => {
    const asked: string[] = []
    const open = new Set<string>()
    let sessions = 0
    let dead = true
    const fetch: GuardedFetch = async ({ url, method, body, headers }) => {
      if (!url.includes('/mcp')) return answer(200)
      if (method === 'DELETE') {
        open.delete(headers?.['mcp-session-id'] ?? '')
        return answer(200)
      }
      const call = JSON.parse(String(body) || '{}') as { id?: number; method?: string }
      asked.push(`${new URL(url).hostname} ${method} ${call.method ?? ''}`)
      if (url.includes('dead') && dead) return answer(404)
      if (call.method !== 'initialize') return answer(202)
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      }
      const session = `s${++sessions}`
      open.add(session)
      const { headers: plain, ...said } = answer(200, JSON.stringify({ jsonrpc: '2.0', id: call.id, result }))
      return { ...said, headers: { ...plain, 'mcp-session-id': session } }
    }
    const two = [
      { name: 'live', url: 'https://live.example.com/mcp' },
      { name: 'dead', url: 'https://dead.example.com/mcp' },
    ]
    const found: unknown[] = []
    const openThen: string[][] = []
    const agent = createAgent({
      async onMessage(_, voice) {
        found.push(await voice.mcp().catch(() => 'failed'))
        openThen.push([...open])
        dead = false
        found.push(...(await Promise.all([voice.mcp(), voice.mcp()])))
        openThen.push([...open])
      },
      fetch,
    })
    await agent.fetch(post(JSON.stringify({ ...delivery, mcp: two })))
    await agent.settled()
    const [failed, once, again] = found
    expect(failed).toBe('failed')
    expect(once).toMatchObject([{ name: 'live' }, { name: 'dead' }])
    expect(once).toBe(again)
    expect(asked.filter((one) => one === 'live.example.com POST initialize')).toHaveLength(2)
    expect([...openThen, [...open]]).toEqual([[], ['s2', 's3'], []])
  })
})
