// Both ends of the frames over a real socket: the state that survives ends of the daemon, and the answers to bad input.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type AttachedHost,
  type Authorization,
  type HostAsk,
  type HostCall,
  type HostSeat,
  MAX_FRAME_BYTES,
} from '../contract/index.ts'
import { createRecordingLog, createTestClock } from '../testing/index.ts'
import { createAttachClient, type DeliverFrame } from './attach-client.ts'
import { createAttachServer } from './attach-server.ts'
import { createFrameLines } from './frame-lines.ts'
import { socketLink } from './frame-link.ts'
import { openHostConnection } from './host-connection.ts'

const undo: (() => unknown)[] = []
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

const clock = () => ({
  now: Date.now,
  after(ms: number, run: () => void) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
})

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'swb-attach-'))
  undo.push(() => rmSync(path, { recursive: true, force: true }))
  return path
}

interface Attachment {
  readonly host: AttachedHost
  readonly calls: HostCall[]
  readonly asks: HostAsk[]
  detached: boolean
}

/** A daemon's end with one agent, `kate`. Calls are answered by `answer`. */
async function daemon(path: string, answer: (call: HostCall) => Promise<string> = async () => 'done') {
  const server = createAttachServer({
    clock: clock(),
    log: createRecordingLog(),
    version: '1',
    abilities: () => ({ permission: true, channels: false, services: false, oneWay: false }),
  })
  const attachments: Attachment[] = []
  server.open('kate', {
    dialect: 'claude',
    admit(host): HostSeat {
      const one: Attachment = { host, calls: [], asks: [], detached: false }
      attachments.push(one)
      return {
        async call(call, proves) {
          one.calls.push(call)
          proves('t1')
          const text = await answer(call)
          return { text, isError: false, structured: { ok: true }, proven: true, done: ['t1'], seen: ['t2'] }
        },
        async ask(ask) {
          one.asks.push(ask)
        },
        detached() {
          one.detached = true
        },
      }
    },
  })
  await server.listen(path)
  undo.push(() => server.close())
  return { server, attachments }
}

function shim(path: string, over: { agent?: string; dialect?: 'claude' | 'nexo'; routingKey?: string } = {}) {
  const events: DeliverFrame[] = []
  const verdicts: string[] = []
  let revived = 0
  const client = createAttachClient(
    {
      agent: 'kate',
      dialect: 'claude',
      routingKey: 'session-1',
      shim: 'shim-1',
      folder: '/srv/project',
      open: socketLink(path),
      ...over,
    },
    {
      clock: clock(),
      log: createRecordingLog(),
      deliver: async (event) => void events.push(event),
      verdict: async ({ requestId, behavior }) => void verdicts.push(`${requestId} ${behavior}`),
      revive: () => {
        revived += 1
      },
    },
  )
  client.start()
  undo.push(() => client.stop())
  return { client, events, verdicts, revived: () => revived }
}

async function until<T>(look: () => T | undefined | false | null): Promise<T> {
  for (let tries = 0; tries < 1_000; tries++) {
    const found = look()
    if (found !== undefined && found !== false && found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('waited in vain')
}

const event = (n: number) => ({
  turn: `t${n}`,
  session: 's',
  chatId: 'place:room',
  messageId: `m${n}`,
  content: `message ${n}`,
  meta: { chat_id: 'place:room' },
})

describe('a shim and the daemon', () => {
  it('[S6.ch-socket] meet on a socket of mode 0600, and hand events, verdicts, calls and asks to each other', async () => {
    const path = join(folder(), 'a.sock')
    const { attachments } = await daemon(path)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const { client, events, verdicts } = shim(path)
    expect(await client.welcome(5_000)).toEqual({
      permission: true,
      channels: false,
      services: false,
      oneWay: false,
    })
    expect(attachments).toEqual([])
    client.ready('claude-code 2.1.325')
    const one = await until(() => attachments[0])
    expect(one.host.facts).toMatchObject({
      agent: 'kate',
      routingKey: 'session-1',
      shim: 'shim-1',
      client: 'claude-code 2.1.325',
      folder: '/srv/project',
    })
    await one.host.deliver(event(1))
    expect(events).toMatchObject([{ turn: 't1', content: 'message 1' }])
    expect(await one.host.verdict({ requestId: 'abcde', behavior: 'allow' })).toBe('relayed')
    expect(verdicts).toEqual(['abcde allow'])
    expect(await client.call('reply', { text: 'x' }, 'toolu_1')).toMatchObject({ text: 'done' })
    expect(one.calls).toEqual([{ tool: 'reply', input: { text: 'x' }, key: 'toolu_1' }])
    client.ask({ requestId: 'fghij', toolName: 'Bash', description: '', inputPreview: '' })
    await until(() => one.asks[0])
  })

  it('keep what counts when the daemon goes: held turns, open asks, and calls replayed by their key with what they proved', async () => {
    const path = join(folder(), 'a.sock')
    const first = await daemon(path, () => new Promise(() => undefined))
    const { client, revived } = shim(path)
    client.ready('host 1')
    const before = await until(() => first.attachments[0])
    await before.host.deliver(event(1))
    await before.host.deliver(event(2))
    client.ask({ requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: '' })
    const called = client.call('reply', { text: 'x' }, 'toolu_1')
    await until(() => before.calls[0] && before.asks[0])
    await new Promise((resolve) => setTimeout(resolve, 50))
    await first.server.close()
    expect(await before.host.verdict({ requestId: 'abcde', behavior: 'allow' })).toBe('gone')
    const second = await daemon(path)
    const after = await until(() => second.attachments[0])
    expect(after.host.facts).toMatchObject({ held: [{ turn: 't1' }, { turn: 't2' }], asks: ['abcde'] })
    expect(await called).toMatchObject({ text: 'done' })
    expect(after.calls).toEqual([{ tool: 'reply', input: { text: 'x' }, key: 'toolu_1', provedBefore: 't1' }])
    // Answered turns are forgotten. That the host is proven is not.
    await second.server.close()
    const third = await daemon(path)
    const last = await until(() => third.attachments[0])
    expect(last.host.facts).toMatchObject({ held: [{ turn: 't2', seen: true }], proven: true })
    // Each was closed on purpose, so no revival was requested.
    expect(revived()).toBe(0)
  })

  it('[S6.ch-not-twice] remember all that the host was handed, also what is far more than a window', async () => {
    const path = join(folder(), 'a.sock')
    const first = await daemon(path)
    const { client, events } = shim(path)
    client.ready('host 1')
    const before = await until(() => first.attachments[0])
    for (let n = 1; n <= 600; n++) await before.host.deliver(event(n))
    await first.server.close()
    const second = await daemon(path)
    const after = await until(() => second.attachments[0])
    expect(after.host.facts.held.map(({ turn }) => turn)).toEqual(events.map(({ turn }) => turn))
    expect(after.host.facts.held).toHaveLength(600)
  })

  it.each([
    ['401 characters', 'k'.repeat(401)],
    ['what no store keeps', 'toolu_\u0000\ud800'],
  ])('a key of %s is known by its digest, the same each time, and ends no connection', async (_name, key) => {
    const path = join(folder(), 'a.sock')
    const { attachments } = await daemon(path)
    const { client } = shim(path, { routingKey: `session ${key}` })
    client.ready(null)
    expect(await client.call('reply', {}, key)).toMatchObject({ text: 'done' })
    expect(await client.call('reply', {}, key)).toMatchObject({ text: 'done' })
    expect(await client.call('reply', {}, `${key}x`)).toMatchObject({ text: 'done' })
    const [one] = attachments
    const keys = one?.calls.map((call) => call.key) ?? []
    expect(keys[0]).toMatch(/^sha256:[0-9a-f]{64}$/)
    expect([keys[1] === keys[0], keys[2] === keys[0]]).toEqual([true, false])
    expect(one?.host.facts.routingKey).toMatch(/^sha256:/)
    expect([attachments.length, one?.detached]).toEqual([1, false])
  })

  it('an event that no shim takes is refused before it is sent, and ends no connection', async () => {
    const path = join(folder(), 'a.sock')
    const { attachments } = await daemon(path)
    const { client, events } = shim(path)
    client.ready(null)
    const one = await until(() => attachments[0])
    const tooLong = [
      { ...event(1), content: '\u0001'.repeat(2 * 1_048_576) },
      { ...event(2), meta: { context: '\u0001'.repeat(2 * 1_048_576) } },
      { ...event(3), messageId: 'm'.repeat(4_097) },
      { ...event(4), chatId: `place:${'c'.repeat(4_096)}` },
    ]
    for (const each of tooLong)
      expect(() => one.host.deliver(each)).toThrow(expect.objectContaining({ code: 'too_large' }))
    await one.host.deliver({ ...event(5), content: 'x'.repeat(2 * 1_048_576) })
    expect(events.map(({ turn }) => turn)).toEqual(['t5'])
    expect([attachments.length, one.detached]).toEqual([1, false])
  })

  it('a call or a result that is too long for a frame is said to be, and ends no connection', async () => {
    const path = join(folder(), 'a.sock')
    const { attachments } = await daemon(path, async ({ tool }) =>
      tool === 'fetch_messages' ? '\u0001'.repeat(2 * 1_048_576) : 'done',
    )
    const { client } = shim(path)
    client.ready(null)
    const long = { text: '\u0001'.repeat(2 * 1_048_576) }
    expect(await client.call('reply', long, 'k1')).toMatchObject({
      isError: true,
      structured: { code: 'too_large' },
    })
    expect(await client.call('fetch_messages', {}, 'k2')).toMatchObject({
      isError: true,
      text: expect.stringMatching(/too long/),
    })
    client.ask({ requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: long.text })
    expect(await client.call('reply', {}, 'k3')).toMatchObject({ text: 'done' })
    expect(attachments).toHaveLength(1)
    expect(attachments[0]?.calls.map(({ key }) => key)).toEqual(['k2', 'k3'])
  })

  it('[S6.ch-starts-daemon] a daemon that is not there is called for, and a call says so when none comes', async () => {
    const { client, revived } = shim(join(folder(), 'nothing.sock'))
    expect(await client.welcome(200)).toBeNull()
    expect(revived()).toBeGreaterThan(0)
    expect(client.problem()).toMatch(/no daemon answers \(ENOENT\)/)
  })

  it.each([
    [{ agent: 'nobody' }, /agent "nobody" is not configured/],
    [{ dialect: 'nexo' as const }, /dialect claude, the shim has nexo/],
  ])('are told in words why %j is refused', async (over, words) => {
    const path = join(folder(), 'a.sock')
    const { server } = await daemon(path)
    const { client } = shim(path, over)
    expect(await client.welcome(5_000)).toBeNull()
    expect(client.problem()).toMatch(words)
    // Kept for doctor, which explains why nothing arrives.
    expect(server.turnedAway()).toMatchObject([{ reason: expect.stringMatching(words) }])
    expect(await client.call('reply', {}, 'k')).toMatchObject({
      isError: true,
      text: expect.stringMatching(words),
    })
  })
})

describe('a peer that does not keep to the form', () => {
  async function peer(path: string): Promise<{ socket: Socket; said: () => string; ended: Promise<void> }> {
    const socket = connect(path)
    let text = ''
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', () => undefined)
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    return { socket, said: () => text, ended }
  }
  const hello = {
    t: 'hello',
    v: 1,
    agent: 'kate',
    dialect: 'claude',
    routingKey: null,
    held: [],
    asks: [],
    proven: false,
  }
  const line = (value: unknown) => `${JSON.stringify(value)}\n`

  it.each([
    ['garbage', '\u0000\u0001 GET / HTTP/1.1\r\n\n', /not JSON/],
    ['a list', '[]\n', /must be an object/],
    ['no hello', line({ t: 'call', id: 1, key: 'k', tool: 'reply' }), /first frame must be hello/],
    ['another version', line({ ...hello, v: 2 }), /speaks version 1/],
    ['a field of the wrong kind', line({ ...hello, held: 'all' }), /held must be/],
    [
      'an unknown frame',
      line(hello) + line({ t: 'ready', client: null }) + line({ t: 'sudo' }),
      /no frame .*sudo/,
    ],
    ['a kind that no text can be made of', '{"t":{"toString":1,"valueOf":1}}\n', /whose kind is object/],
    ['hello twice', line(hello) + line({ t: 'ready', client: null }) + line(hello), /said twice/],
    [
      'a call before ready',
      line(hello) + line({ t: 'call', id: 1, key: 'k', tool: 'x' }),
      /ready comes after hello/,
    ],
  ])('%s is refused with the reason, and others go on', async (_name, bytes, reason) => {
    const path = join(folder(), 'a.sock')
    const { attachments } = await daemon(path)
    const { client } = shim(path)
    client.ready(null)
    const good = await until(() => attachments[0])
    const bad = await peer(path)
    bad.socket.write(bytes)
    await bad.ended
    expect(bad.said().split('\n').at(-2)).toMatch(reason)
    await good.host.deliver(event(1))
    expect(good.detached).toBe(false)
  })

  it('a line without an end is cut off at the bound', async () => {
    const path = join(folder(), 'a.sock')
    await daemon(path)
    const bad = await peer(path)
    const chunk = Buffer.alloc(1_048_576, 'x')
    let sent = 0
    for (; sent <= MAX_FRAME_BYTES && !bad.socket.destroyed; sent += chunk.length) {
      if (!bad.socket.write(chunk))
        await Promise.race([new Promise((resolve) => bad.socket.once('drain', resolve)), bad.ended])
    }
    await bad.ended
    expect(sent + chunk.length).toBeGreaterThan(MAX_FRAME_BYTES)
  })

  it('lines are put together from any pieces, and bounded', () => {
    const lines = createFrameLines(10)
    expect(lines.push(Buffer.from('ab'))).toEqual([])
    expect(lines.push(Buffer.from('c\n\nde\nf'))).toEqual(['abc', 'de'])
    expect(lines.push(Buffer.from('é\n'))).toEqual(['fé'])
    expect(() => lines.push(Buffer.from('01234567890'))).toThrow(RangeError)
  })

  it('one that is silent is let go, one that never says hello too, and a token is good for its agent only', async () => {
    const time = createTestClock()
    const sent: string[] = []
    let ends = 0
    const open = (may?: (agent: string) => Authorization) =>
      openHostConnection(
        { send: (text) => sent.push(text), end: () => void ends++, ...(may ? { may } : {}) },
        {
          id: 'h',
          clock: time,
          log: createRecordingLog(),
          version: '1',
          postOf: () => ({
            dialect: 'claude',
            admit: () => ({
              call: () => new Promise(() => undefined),
              ask: async () => undefined,
              detached: () => undefined,
            }),
          }),
          abilities: () => ({ permission: false, channels: false, services: false, oneWay: false }),
          attached: () => undefined,
          calling: () => undefined,
          turnedAway: () => undefined,
          detached: () => undefined,
        },
      )
    open()
    await time.advance(5_000)
    expect(sent.at(-1)).toMatch(/no hello within 5 s/)
    open().line(JSON.stringify(hello))
    expect(sent.at(-1)).toMatch(/"permission":false/)
    await time.advance(60_000)
    expect(sent.filter((one) => one.includes('"ping"')).length).toBeGreaterThan(1)
    expect(sent.at(-1)).toMatch(/nothing was heard for 45 s/)
    open((agent) => ({ allowed: false, reason: `not ${agent}` })).line(JSON.stringify(hello))
    expect(sent.at(-1)).toMatch(/may not be attached for: not kate/)
    expect(ends).toBe(3)
  })
})
