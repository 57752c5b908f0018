// A person who lost the right to talk in the web chat may not listen there either, however valid the session is. Also
// the limits of unused uploads per sender.
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRiver, type MemoryRiver } from '../../../test/browser/memory-river.ts'
import { type HttpReply, isReply, type Received, type StreamSink } from '../../contract/index.ts'
import { createTestClock, createTestRandom, type TestClock } from '../../testing/test-clock.ts'
import { createWebPlatform } from './index.ts'

let clock: TestClock
let river: MemoryRiver
const barred = new Set<string>()
beforeEach(async () => {
  barred.clear()
  clock = createTestClock()
  river = await createMemoryRiver({ clock, random: createTestRandom() })
})

async function setUp() {
  const platform = createWebPlatform({ ...river.deps, mayTalk: (sender) => !barred.has(sender) })
  await platform.start({ receive: async () => [REFUSED] }, null)
  const { token } = await river.tokens.mint({
    kind: 'web',
    scope: { integration: 'web', sender: 'bert' },
    ttlMs: null,
  })
  const ask = async (method: string, target: string, body: Uint8Array): Promise<HttpReply> => {
    const url = new URL(target, 'http://localhost')
    const headers = {
      host: 'localhost',
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
    }
    const raw = { method, path: url.pathname, query: url.searchParams, headers, body, fromLoopback: true }
    const outcome = await platform.endpoint?.verify(raw)
    if (outcome === undefined) throw new Error('the web chat has an endpoint')
    return isReply(outcome) ? outcome : ((await platform.endpoint?.handle(outcome)) as HttpReply)
  }
  return {
    platform,
    ask: (method: string, target: string, body = '{}') => ask(method, target, Buffer.from(body)),
  }
}

const REFUSED: Received = {
  id: 't1',
  state: 'refused',
  duplicate: false,
  reason: 'sender_not_allowed',
  session: null,
}
const MESSAGE = '{"clientId":"0123456789abcdef","text":"hi"}'

describe('a session whose sender may not speak', () => {
  it('[I14.listen-gate] reads, streams, uploads and links nothing; what it says is judged and recorded by the river', async () => {
    const { ask } = await setUp()
    const file = '/files/0123456789abcdef0123456789abcdef'
    const listening = [
      ['GET', '/history', 200],
      ['GET', '/stream', 200],
      ['POST', '/upload', 200],
      ['POST', '/link', 200],
      ['GET', file, 404],
    ] as const
    for (const [method, path, status] of listening)
      expect([path, (await ask(method, path)).status]).toEqual([path, status])
    barred.add('bert')
    for (const [method, path] of listening)
      expect([path, (await ask(method, path)).status]).toEqual([path, 403])
    expect((await ask('GET', '/me')).status).toBe(200)
    expect(JSON.parse(String((await ask('POST', '/messages', MESSAGE)).body))).toMatchObject({
      state: 'refused',
    })
    expect((await ask('POST', '/logout')).status).toBe(200)
  })

  it('[I14.listen-gate] has its open stream ended at the next sweep', async () => {
    const { ask, platform } = await setUp()
    let ended = false
    const sink: StreamSink = {
      write: () => {},
      drained: async () => {},
      closed: false,
      onClose: () => {},
      end: () => {
        ended = true
      },
    }
    const reply = await ask('GET', '/stream')
    reply.stream?.(sink)
    await clock.advance(5_000)
    expect(ended).toBe(false)
    barred.add('bert')
    await clock.advance(5_000)
    expect(ended).toBe(true)
    await platform.stop()
  })
})

it('[I14.upload-quota] files that no message took, over the quota, get 429 with when to come back', async () => {
  const { ask } = await setUp()
  for (let count = 0; count < 200; count += 1) {
    const { status } = await ask('POST', '/upload', 'x')
    if (status !== 200) throw new Error(`upload ${count}: ${status}`)
  }
  const over = await ask('POST', '/upload', 'x')
  expect(over.status).toBe(429)
  expect(Number(over.headers?.['retry-after'])).toBeGreaterThan(0)
})
