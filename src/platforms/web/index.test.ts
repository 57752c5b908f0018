// The web chat through the shared platform suite, and its own cases: signals, link, limits.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createMemoryRiver } from '../../../test/browser/memory-river.ts'
import type { PlatformAdapter, RawRequest, StreamSink } from '../../contract/index.ts'
import { deliverTo, describePlatform } from '../../testing/suites/platform-suite.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { readHistory } from './history.ts'

const fixture = (name: string) => readFileSync(new URL(`./fixtures/${name}.json`, import.meta.url))

function post(path: string, token: string | null, body: Uint8Array): RawRequest {
  return {
    method: 'POST',
    path,
    query: new URLSearchParams(),
    headers: {
      host: 'localhost:4747',
      origin: 'http://localhost:4747',
      'content-type': 'application/json',
      ...(token === null ? {} : { cookie: `swb_chat_4747=${token}` }),
    },
    body,
    fromLoopback: true,
  }
}

async function setUp() {
  const clock = createTestClock()
  const river = await createMemoryRiver({ clock, random: createTestRandom() })
  const scope = { integration: 'web', sender: 'owner' }
  const { token } = await river.tokens.mint({ kind: 'web', scope, ttlMs: null })
  return { clock, river, token }
}

const NOBODY_CALLED = 'nobody is called: what is said is kept, and the page fetches it'
describePlatform(
  'web',
  async () => {
    const { river, token } = await setUp()
    const { platform } = river
    const endpoint = platform.endpoint
    if (endpoint === undefined) throw new Error('the web chat has an endpoint')
    const deliver = (path: string, credential: string | null, body: Uint8Array) => () =>
      deliverTo(endpoint, post(path, credential, body))
    // The outbox row is the message. Here `send` writes it, as the core does.
    const adapter: PlatformAdapter = {
      ...platform,
      send(request) {
        const { op, key: id, seq } = request
        const at = river.deps.clock.now()
        const text = 'text' in op ? op.text : ''
        if (!river.rows.some((row) => row.id === id)) {
          river.rows.push({
            seq,
            direction: 'out',
            id,
            conversation: 'owner',
            at,
            text,
            state: 'sent',
            reason: null,
            op,
          })
        }
        return platform.send(request)
      },
    }
    return {
      adapter,
      inbound: [
        { name: 'message', deliver: deliver('/messages', token, fixture('message')) },
        { name: 'reply', deliver: deliver('/messages', token, fixture('message-with-reply')) },
        { name: 'tap', deliver: deliver('/tap', token, fixture('tap')) },
        {
          name: 'U+0000',
          deliver: deliver('/messages', token, Buffer.from('{"clientId":"abcdefgh","text":"a\\u0000b"}')),
        },
      ],
      malformed: [
        { name: 'no JSON', deliver: deliver('/messages', token, Buffer.from('{"text":')) },
        { name: 'a list', deliver: deliver('/messages', token, Buffer.from('[]')) },
        { name: 'no text', deliver: deliver('/messages', token, Buffer.from('{"clientId":"abcdefgh"}')) },
        { name: 'a tap on nothing', deliver: deliver('/tap', token, Buffer.from('{"clientId":"abcdefgh"}')) },
      ],
      unverified: [
        { name: 'no session', deliver: deliver('/messages', null, fixture('message')) },
        { name: 'a wrong session', deliver: deliver('/messages', 'guess', fixture('message')) },
      ],
      address: { integration: 'web', conversation: 'owner' },
      reads: async () => river.rows.at(-1)?.text ?? '',
      shown: async (key) => {
        const page = await readHistory(river.deps.transcript, 'owner', { before: null, limit: 100 })
        return page.entries.filter((entry) => entry.id === key).length
      },
      planted: [token],
      logLines: () => [],
      close: async () => {},
    }
  },
  {
    faults: [],
    without: {
      ...{ down: NOBODY_CALLED, silent: NOBODY_CALLED, rejects: NOBODY_CALLED, busy: NOBODY_CALLED },
      history:
        'the page brings each message itself, until it is taken: there is no other place where it stands',
    },
  },
)

describe('the web chat', () => {
  async function listen() {
    const { clock, river, token } = await setUp()
    const frames: string[] = []
    const sink: StreamSink = {
      write: (text) => void frames.push(text),
      drained: async () => {},
      closed: false,
      onClose: () => {},
      end: () => {},
    }
    const endpoint = river.platform.endpoint
    const verified = await endpoint?.verify({ ...post('/stream', token, new Uint8Array()), method: 'GET' })
    if (endpoint === undefined || verified === undefined || 'status' in verified) throw new Error('no stream')
    const reply = await endpoint.handle(verified)
    expect(reply.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' })
    reply.stream?.(sink)
    await clock.settle()
    return { clock, river, frames }
  }
  const to = { integration: 'web', conversation: 'owner' }

  it('[S7.web-typing] shows typing and what the agent is doing, and forgets it', async () => {
    const { river, frames } = await listen()
    river.platform.signal?.(to, { kind: 'typing', on: true })
    river.platform.signal?.(to, { kind: 'status', turn: 't', text: 'reading' })
    expect(frames.slice(-2)).toEqual([
      'event: typing\ndata: {"on":true}\n\n',
      'event: status\ndata: {"text":"reading"}\n\n',
    ])
    expect(river.rows).toEqual([])
  })

  it('[I3.web-delivery-state] tells the state of an own message with its reason in words', async () => {
    const { river, frames } = await listen()
    river.platform.signal?.(to, {
      kind: 'turn_state',
      turn: 't_1',
      messageId: 'client-1',
      state: 'expired',
      reason: 'queue_expired',
    })
    expect(frames.at(-1)).toContain('"reasonText":"It waited longer than queue_expiry."')
  })

  it('a send reaches the open window at once', async () => {
    const { clock, river, frames } = await listen()
    await river.say({ kind: 'text', text: 'now' })
    await clock.settle()
    expect(frames.at(-1)).toMatch(/^id: i0\.o1\nevent: entry\ndata: \{"id":"o_1".*"text":"now"/)
  })

  it('[S7.web-limit] takes 16,000 characters a message and says how many windows are open', async () => {
    const { river } = await listen()
    expect(river.platform.abilities.textLimit).toEqual({ size: 16_000, unit: 'code-points' })
    expect(river.platform.link?.state()).toEqual({ state: 'up', detail: '1 open window' })
    await river.platform.stop()
    expect(river.platform.link?.state().state).toBe('down')
  })
})
