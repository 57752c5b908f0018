// The channel connector: the shared suite, and its own cases: unproven hosts, evidence, order.
import { beforeEach, describe, expect, it } from 'vitest'
import type { AgentConnector, AgentOutlet } from '../../contract/index.ts'
import {
  createTestClock,
  delivery,
  describeConnectorSuite,
  startRecorded,
  type TestClock,
} from '../../testing/index.ts'
import { createFakeHosts, createRecordingActions, type FakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'
import { TRIAL_MS } from './moves.ts'

// A host that answers everything, asks on request, and answers after it was allowed or denied.
describeConnectorSuite('channel', async () => {
  const hosts = createFakeHosts()
  let outlet: AgentOutlet | null = null
  const { actions } = createRecordingActions(async ({ turn }, text) => {
    const { session } = delivery('')
    await outlet?.accept({ kind: 'say', session, ...(turn ? { turn } : {}), text, final: true })
  })
  const inner = channelConnector(createTestClock(), hosts, { actions })
  const connector: AgentConnector = {
    ...inner,
    async start(given) {
      outlet = given
      await inner.start(given)
      const host = hosts.attach('kate')
      const answer = () => void host.call('reply', { chat_id: 'place:room', text: 'done' })
      host.onEvent = ({ content }) => {
        if (content !== 'ask') return answer()
        void host.seat.ask({
          requestId: 'abcde',
          toolName: 'Bash',
          description: 'Run shell command',
          inputPreview: '{ "command": "ls" }',
        })
      }
    },
    async verdict(verdict) {
      const told = await inner.verdict?.(verdict)
      const { session, turn } = verdict
      if (turn) await outlet?.accept({ kind: 'say', session, turn, text: 'so be it', final: true })
      return told ?? 'gone'
    },
  }
  return { connector, answerable: 'hello', asking: 'ask' }
})

describe('the channel connector', () => {
  let clock: TestClock
  let hosts: FakeHosts
  let connector: AgentConnector
  let tools: ReturnType<typeof createRecordingActions>
  let recorded: Awaited<ReturnType<typeof startRecorded>>

  beforeEach(async () => {
    clock = createTestClock()
    hosts = createFakeHosts()
    tools = createRecordingActions()
    connector = channelConnector(clock, hosts, { actions: tools.actions })
    recorded = await startRecorded(connector)
  })

  const turn = (n: number, over: object = {}) =>
    delivery(`message ${n}`, {
      turn: `t${n}`,
      messageId: `m${n}`,
      meta: { chat_id: 'place:room', message_id: `m${n}`, user: 'dev', 'bad-key': 'x', '1st': 'y' },
      ...over,
    })
  const other = (n: number) => turn(n, { session: 'other', chatId: 'place:other' })
  const prove = async (host: ReturnType<FakeHosts['attach']>) => {
    await connector.deliver(turn(0, { session: 'proof', chatId: 'place:proof' }))
    await host.call('reply', { chat_id: 'place:proof', text: 'here' })
    recorded.outputs.length = 0
    tools.calls.length = 0
  }
  const evidence = () =>
    recorded.outputs.flatMap((one) => (one.kind === 'evidence' ? [`${one.turn} ${one.of}`] : []))
  const returned = () => recorded.outputs.flatMap((one) => (one.kind === 'returned' ? [one] : []))

  it('[S6.ch-notification] [S6.meta-strings] hands over content and meta, all strings under keys that hosts take', async () => {
    const host = hosts.attach('kate')
    await connector.deliver(turn(1, { replyTo: { messageId: 'm0', text: 'what I said' } }))
    expect(host.events).toEqual([
      {
        turn: 't1',
        session: delivery('').session,
        chatId: 'place:room',
        messageId: 'm1',
        content: 'message 1',
        meta: { chat_id: 'place:room', message_id: 'm1', user: 'dev', reply_to_text: 'what I said' },
      },
    ])
  })

  it('says what a message without a text is', async () => {
    const host = hosts.attach('kate')
    const attachments = [{ id: 'a', kind: 'image' as const, name: '</channel>', ref: 'r' }]
    await connector.deliver(turn(1, { text: '', attachments }))
    expect(host.texts()).toEqual(['(image)'])
  })

  it('is absent while nobody is attached, and says what to do', async () => {
    expect(recorded.attached).toBe(false)
    await expect(connector.deliver(turn(1))).rejects.toMatchObject({
      code: 'agent_absent',
      message: expect.stringContaining('no host is attached'),
    })
  })

  it('[S6.ch-unproven] [S6.several-hosts] of several unproven hosts each gets one turn; a proven one goes first and gets all', async () => {
    const first = hosts.attach('kate')
    const second = hosts.attach('kate')
    await connector.deliver(turn(1))
    expect([first.texts(), second.texts()]).toEqual([['message 1'], []])
    expect(connector.room?.('other')).toBe(1)
    await connector.deliver(other(2))
    expect(second.texts()).toEqual(['message 2'])
    expect(connector.room?.('third')).toBe(0)
    const before = recorded.roomy
    await second.call('reply', { chat_id: 'place:other', text: 'yes' })
    expect(recorded.roomy).toBeGreaterThan(before)
    await connector.deliver(turn(3, { session: 'third', chatId: 'place:third' }))
    expect(second.texts()).toEqual(['message 2', 'message 3'])
  })

  it('[S6.ch-unproven-30s] [I14.moves-once] after 30 s a turn goes to the next host, once, marked, and stays handed', async () => {
    const deaf = hosts.attach('kate')
    const next = hosts.attach('kate')
    hosts.attach('kate')
    await connector.deliver(turn(1))
    await clock.advance(TRIAL_MS - 1)
    expect(next.events).toEqual([])
    await clock.advance(1)
    expect([deaf.texts(), next.texts()]).toEqual([['message 1'], ['message 1']])
    expect([deaf.events[0]?.meta.redelivery, next.events[0]?.meta.redelivery]).toEqual([undefined, 'true'])
    await clock.advance(10 * TRIAL_MS)
    expect(recorded.outputs).toEqual([])
    expect(hosts.all().map((host) => host.texts().length)).toEqual([1, 1, 0])
  })

  it('[I14.only-host-gets-all] [S6.channel-window] the only host is written every turn in order, proven or not', async () => {
    const host = hosts.attach('kate')
    for (const n of [1, 2, 3]) await connector.deliver(turn(n))
    await connector.deliver(other(4))
    expect(host.texts()).toEqual(['message 1', 'message 2', 'message 3', 'message 4'])
    expect(connector.window).toBe(256)
    expect(connector.room?.('any')).toBeGreaterThan(0)
    host.room = 0
    expect(connector.room?.('any')).toBe(0)
  })

  it('[I14.unproven-not-offline] [S6.ch-doctor-why] silence moves no state: the agent is attached, unproven, with the reason', async () => {
    const details: (string | undefined)[] = []
    const told = channelConnector(clock, hosts)
    await told.start({
      accept: async () => ({ id: null }),
      presence: (on, detail) => details.push(`${on} ${detail}`),
      fetchVerdict: async () => 'pending',
      roomy: () => undefined,
      reached: () => undefined,
      askedMs: async () => 0,
    })
    const host = hosts.attach('kate')
    expect(details.at(-1)).toMatch(/^true attached, unproven: claude-code 2\.1\.325 has not acted/)
    await told.deliver(turn(1))
    await clock.advance(TRIAL_MS)
    expect(details.at(-1)).toMatch(
      /^true attached, unproven: .* acted on no message within 30 s.*--dangerously/,
    )
    await told.deliver(turn(2))
    expect(host.texts()).toEqual(['message 1', 'message 2'])
  })

  it('[I14.all-silent-flows] once every host was tried in vain nothing is withheld, and each turn still moves once', async () => {
    const [a, b] = [hosts.attach('kate'), hosts.attach('kate')]
    await connector.deliver(turn(1))
    await connector.deliver(other(2))
    await clock.advance(TRIAL_MS)
    expect([a.texts(), b.texts()]).toEqual([
      ['message 1', 'message 2'],
      ['message 2', 'message 1'],
    ])
    for (const n of [3, 4, 5]) await connector.deliver(turn(n))
    expect(b.texts().slice(2)).toEqual(['message 3', 'message 4', 'message 5'])
    await clock.advance(TRIAL_MS)
    expect(a.texts().slice(2)).toEqual(['message 3', 'message 4', 'message 5'])
    await clock.advance(10 * TRIAL_MS)
    expect([a.events.length, b.events.length]).toEqual([5, 5])
  })

  it('[I14.moves-once] what the only host had unseen moves 30 s after another one came, as a whole and in order', async () => {
    const deaf = hosts.attach('kate')
    for (const n of [1, 2]) await connector.deliver(turn(n))
    await clock.advance(10 * TRIAL_MS)
    const good = hosts.attach('kate', { proven: true })
    expect(connector.room?.(delivery('').session), 'nothing overtakes them').toBe(0)
    await clock.advance(TRIAL_MS - 1)
    expect(good.texts()).toEqual([])
    await clock.advance(1)
    expect(good.texts()).toEqual(['message 1', 'message 2'])
    await connector.deliver(turn(3))
    expect([deaf.events.length, good.texts().at(-1)]).toEqual([2, 'message 3'])
  })

  it('[S6.ch-not-twice] a host that was only busy is proven by its late answer, and is not handed the turn again', async () => {
    const busy = hosts.attach('kate', { folder: '/srv/project' })
    await connector.deliver(turn(1))
    await clock.advance(10 * TRIAL_MS)
    expect(recorded.attached).toBe(true)
    const called = await busy.call('reply', { chat_id: 'place:room', text: 'sorry, I was busy' })
    expect(called).toMatchObject({ isError: false })
    expect(busy.texts()).toEqual(['message 1'])
    expect(tools.calls[0]?.caller).toMatchObject({ agent: 'kate', turn: 't1', folder: '/srv/project' })
    expect(evidence()).toEqual(['t1 seen'])
  })

  it('[S6.ch-not-twice] what a host says it holds after a restart of the daemon is taken up, not handed over', async () => {
    const held = [{ turn: 't1', session: delivery('').session, chatId: 'place:room', messageId: 'm1' }]
    const host = hosts.attach('kate', { held, proven: true })
    await connector.deliver(turn(1, { repeat: true }))
    await connector.deliver(turn(2))
    expect(host.texts()).toEqual(['message 2'])
    await host.call('ack', { message_id: 'm2' })
    expect(evidence()).toEqual(['t1 seen', 't2 seen', 't1 seen'])
  })

  it('[S6.channel-window] hands over in order without waiting for the one before', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    for (const n of [1, 2, 3]) await connector.deliver(turn(n))
    expect(host.texts().slice(1)).toEqual(['message 1', 'message 2', 'message 3'])
    expect(connector.window).toBeGreaterThan(1)
  })

  it('[S6.ch-chat-proves-oldest] the chat alone proves its oldest turn, a message its own', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    for (const n of [1, 2, 3]) await connector.deliver(turn(n))
    await host.call('fetch_messages', { channel: 'place:room' })
    expect([host.proved(), evidence()]).toEqual(['t1', ['t1 seen']])
    await host.call('react', { chat_id: 'place:room', message_id: 'm2', emoji: '👀' })
    expect(evidence()).toEqual(['t1 seen', 't2 seen'])
    await host.call('edit_message', { chat_id: 'place:room', message_id: 'my own', text: 'x' })
    await host.call('pending_messages', {})
    await host.call('send_message', { platform: 'telegram', target: '1', body: 'x' })
    expect(evidence()).toEqual(['t1 seen', 't2 seen'])
  })

  it('[S6.channel-evidence] [S6.channel-covers] ack, reply and any named message cover what was handed before', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    await connector.deliver(turn(1))
    await connector.deliver(other(2))
    await connector.deliver(turn(3))
    await host.call('ack', { message_id: 'm3' })
    expect(evidence()).toEqual(['t1 seen', 't2 seen', 't3 seen', 't1 seen'])
    expect(recorded.outputs.at(-1), 'an ack covers the chat').toMatchObject({
      turn: 't1',
      rests: 'acknowledged',
    })
    expect(tools.calls).toMatchObject([{ tool: 'ack', input: { messageId: 't3' } }])
    const told = await host.seat.call(
      { key: 'k', tool: 'reply', input: { chat_id: 'place:room', text: 'both', reply_to: 'm3' } },
      () => undefined,
    )
    expect(told).toMatchObject({ proven: true, done: ['t1', 't3'] })
    expect(recorded.outputs.at(-1)).toMatchObject({ turn: 't1', of: 'answered', covered: true })
    expect(tools.calls.at(-1)?.caller.turn).toBe('t3')
  })

  it('[S6.channel-ack-rests] what was acknowledged is not what the next reply is about, unless there is nothing else', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    const call = (tool: string, input: object) =>
      host.seat.call({ key: `${tool} ${JSON.stringify(input)}`, tool, input }, () => undefined)
    await connector.deliver(turn(1))
    expect(await call('ack', { message_id: 'm1' })).toMatchObject({ done: ['t1'] })
    await connector.deliver(turn(2))
    await connector.deliver(other(3))
    expect(await call('reply', { chat_id: 'place:room', text: 'to 2' })).toMatchObject({ done: ['t1', 't2'] })
    expect(tools.calls.at(-1)?.caller.turn).toBe('t2')
    await call('ack', { message_id: 'm3' })
    await connector.deliver(turn(4))
    expect(await call('reply', { chat_id: 'place:other', text: 'at last' })).toMatchObject({ done: ['t3'] })
    expect(tools.calls.at(-1)?.caller.turn).toBe('t3')
    await connector.deliver(turn(5))
    await call('ack', { message_id: 'm4' })
    host.detach()
    await clock.settle()
    expect(returned()).toMatchObject([{ turns: ['t5'] }])
  })

  it('a message id that two chats share is told apart by the chat', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    await connector.deliver(turn(1, { messageId: '7' }))
    await connector.deliver(turn(2, { messageId: '7', session: 'other', chatId: 'place:other' }))
    await host.call('react', { chat_id: 'place:other', message_id: '7', emoji: '👍' })
    expect(host.proved()).toBe('t2')
  })

  it('[S6.ch-tool-use-id] the same key again is the same call, and a replay proves what it proved before', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    await connector.deliver(turn(1))
    await connector.deliver(turn(2))
    const input = { chat_id: 'place:room', text: 'hi' }
    const both = await Promise.all([
      host.call('reply', input, { key: 'toolu_1' }),
      host.call('reply', input, { key: 'toolu_1' }),
    ])
    expect(both[0]).toEqual(both[1])
    expect(tools.calls).toMatchObject([{ caller: { idempotencyKey: 'toolu_1', turn: 't1' } }])
    // A daemon without memory of the first time: the call belongs to the earlier turn, although it is no longer open.
    await host.call('reply', input, { key: 'toolu_0', provedBefore: 't0' })
    expect(tools.calls.at(-1)?.caller).toMatchObject({ turn: 't0', idempotencyKey: 'toolu_0' })
    expect(evidence()).not.toContain('t2 seen')
  })

  it('[S6.host-sticky] a session stays with its host, moves when that one goes, and comes back to the same session', async () => {
    const a = hosts.attach('kate', { proven: true, routingKey: 'session-a' })
    const b = hosts.attach('kate', { proven: true, routingKey: 'session-b' })
    await connector.deliver(turn(1))
    await connector.deliver(turn(2))
    expect([a.texts().length, b.texts().length]).toEqual([2, 0])
    a.detach()
    await clock.settle()
    expect(returned()).toMatchObject([{ turns: ['t1', 't2'], counted: true }])
    await connector.deliver(turn(1, { repeat: true }))
    expect(b.texts()).toEqual(['message 1'])
    hosts.attach('kate', { proven: true, routingKey: 'session-a' })
    await connector.deliver(turn(3))
    expect(b.texts()).toEqual(['message 1', 'message 3'])
  })

  it('[S6.ch-busy-holds] a proven host may be silent for as long as it is attached', async () => {
    const host = hosts.attach('kate')
    await prove(host)
    await connector.deliver(turn(1))
    await clock.advance(24 * 3_600_000)
    expect(returned()).toEqual([])
    expect(connector.redelivery.afterTimeout).toBe(false)
    host.detach()
    await clock.settle()
    expect(returned()).toMatchObject([{ turns: ['t1'], counted: true }])
  })

  it('a listing of servers that lasts a second uses up no attempt and steals nothing from a proven host', async () => {
    const brief = hosts.attach('kate')
    await connector.deliver(turn(1))
    brief.detach()
    await clock.settle()
    expect(returned()).toMatchObject([{ turns: ['t1'], counted: false }])
    expect(recorded.attached).toBe(false)
    const good = hosts.attach('kate', { proven: true })
    hosts.attach('kate')
    await connector.deliver(turn(1, { repeat: true }))
    await connector.deliver(turn(2))
    expect(good.texts()).toEqual(['message 1', 'message 2'])
  })

  it('a newer turn does not overtake one that is on its way back', async () => {
    const a = hosts.attach('kate')
    const b = hosts.attach('kate', { proven: true })
    b.detach()
    await connector.deliver(turn(1))
    let back: () => void = () => undefined
    recorded.hold = () =>
      new Promise((resolve) => {
        back = resolve
      })
    const c = hosts.attach('kate', { proven: true })
    a.detach()
    await clock.settle()
    expect(connector.room?.(delivery('').session)).toBe(0)
    expect(connector.room?.('other')).toBeGreaterThan(0)
    back()
    await clock.settle()
    await connector.deliver(turn(1, { repeat: true }))
    await connector.deliver(turn(3))
    expect(c.texts()).toEqual(['message 1', 'message 3'])
  })

  it('a flood of tool calls is refused beyond a bound, and an unknown tool is said to be one', async () => {
    const host = hosts.attach('kate')
    const flood = Array.from({ length: 100 }, () => host.call('pending_messages', {}))
    const codes = (await Promise.all(flood)).map((one) => one.structured.code ?? 'ok')
    expect(codes.filter((code) => code === 'ok')).toHaveLength(64)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(36)
    expect(await host.call('sudo', {})).toMatchObject({ isError: true, text: 'unknown tool: sudo' })
    expect(await host.call('reply', { chat_id: 5 })).toMatchObject({ isError: true })
  })
})
