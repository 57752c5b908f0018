// The turns of a host: which call belongs to which turn, how many it gets, and turns that ended during its work.
import { expect, it } from 'vitest'
import { MOST_HELD, SwitchboardError } from '../../contract/index.ts'
import { createTestClock, delivery, startRecorded } from '../../testing/index.ts'
import { inputSchemaOf, TOOLS } from '../../tools/index.ts'
import { createFakeHosts, createRecordingActions, type FakeHost } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'
import { TRIAL_MS } from './moves.ts'

async function opened(onReply?: Parameters<typeof createRecordingActions>[0]) {
  const clock = createTestClock()
  const hosts = createFakeHosts()
  const { actions, calls } = createRecordingActions(onReply)
  const connector = channelConnector(clock, hosts, { actions })
  await startRecorded(connector)
  const proven = async (host: FakeHost) => {
    await connector.deliver(turn(0, { session: 'proof', chatId: 'place:proof' }))
    await host.call('reply', { chat_id: 'place:proof', text: 'here' })
    calls.length = 0
  }
  return { clock, hosts, connector, calls, proven }
}

const turn = (n: number, over: object = {}) =>
  delivery(`message ${n}`, { turn: `t${n}`, messageId: `m${n}`, ...over })
const other = (n: number) => turn(n, { session: 'other', chatId: 'place:other' })

it('[S6.channel-evidence] every tool that names a chat or a message by its own schema proves it', async () => {
  const { hosts, connector, proven } = await opened()
  const host = hosts.attach('kate')
  await proven(host)
  const attachments = [{ id: 'file-3', kind: 'video' as const, ref: 'ref-3' }]
  const names: Record<string, [object, string]> = {
    chat_id: [{ chat_id: 'place:room' }, 't1'],
    channel: [{ channel: 'place:room' }, 't1'],
    message_id: [{ message_id: 'm2' }, 't2'],
    file_id: [{ file_id: 'file-3' }, 't3'],
  }
  // The channel of notify_user is a kind of place, not a chat.
  const said = TOOLS.flatMap((tool) =>
    Object.keys(inputSchemaOf(tool).properties ?? {})
      .filter((field) => field in names && tool.name !== 'notify_user')
      .map((field) => ({ tool: tool.name, field })),
  )
  expect(said.map(({ tool, field }) => `${tool} ${field}`)).toEqual([
    'reply chat_id',
    'react chat_id',
    'react message_id',
    'edit_message chat_id',
    'edit_message message_id',
    'download_attachment chat_id',
    'download_attachment message_id',
    'download_attachment file_id',
    'fetch_messages channel',
    'get_roster chat_id',
    'ack message_id',
    'handoff chat_id',
    'service_tools chat_id',
    'call_service_tool chat_id',
  ])
  for (const { tool, field } of said) {
    for (const n of [1, 2]) await connector.deliver(turn(n))
    await connector.deliver(turn(3, { attachments }))
    const [input, proved] = names[field] ?? [{}, '']
    await host.call(tool, input)
    expect(host.proved(), `${tool} ${field}`).toBe(proved)
  }
})

it('[S6.ch-one-answer] [I14.first-answer-wins] a turn that moved on and was answered there is not answered again by the host that was busy', async () => {
  const { clock, hosts, connector, calls } = await opened()
  const busy = hosts.attach('kate')
  const good = hosts.attach('kate')
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  await good.call('reply', { chat_id: 'place:room', text: 'the answer' })
  const late = { chat_id: 'place:room', text: 'a second answer' }
  expect(await busy.call('reply', late)).toMatchObject({
    isError: true,
    structured: { code: 'conflict' },
    text: 'this message was answered by another host meanwhile',
  })
  expect(calls.filter(({ tool }) => tool === 'reply')).toHaveLength(1)
  // It acts on messages, and then speaks for the next one as before.
  await connector.deliver(other(2))
  const asked = [busy, good].find((host) => host.texts().includes('message 2'))
  expect(await asked?.call('reply', { chat_id: 'place:other', text: 'x' })).toMatchObject({
    isError: false,
  })
})

it.each([
  ['arrives: the second is refused', null, 1],
  ['fails: the second is sent', new SwitchboardError('platform_rejected', 'no'), 2],
] as const)(
  '[S6.ch-one-answer] of two hosts that answer one turn at once the first goes out, and when it %s',
  async (_, fault, replies) => {
    const ends: (() => void)[] = []
    const { clock, hosts, connector, calls } = await opened(async (_caller, text) => {
      await new Promise<void>((resolve) => ends.push(resolve))
      if (fault && text === 'first') throw fault
    })
    const busy = hosts.attach('kate')
    const good = hosts.attach('kate')
    await connector.deliver(turn(1))
    await clock.advance(TRIAL_MS)
    const outcomes = [good.call('reply', { chat_id: 'place:room', text: 'first' })]
    await clock.settle()
    outcomes.push(busy.call('reply', { chat_id: 'place:room', text: 'second' }))
    await clock.advance(10_000)
    expect(calls).toHaveLength(1)
    for (let n = 0; n < replies; n++) {
      ends[n]?.()
      await clock.settle()
    }
    expect((await Promise.all(outcomes)).map(({ isError }) => isError)).toEqual([
      fault !== null,
      fault === null,
    ])
    expect(calls).toHaveLength(replies)
  },
)

it('a turn that no host can be handed is given up, and leaves nothing behind', async () => {
  const { hosts, connector, proven } = await opened()
  const host = hosts.attach('kate')
  await proven(host)
  host.onEvent = () => {
    throw new SwitchboardError('too_large', 'too long')
  }
  await expect(connector.deliver(turn(1))).rejects.toMatchObject({ code: 'too_large' })
  host.onEvent = () => undefined
  await connector.deliver(turn(2))
  await host.call('reply', { chat_id: 'place:room', text: 'x' })
  expect(host.proved()).toBe('t2')
})

it('[S6.ch-not-twice] a host is given no more than its shim remembers, and more once it answered', async () => {
  const { hosts, connector } = await opened()
  const session = delivery('').session
  const held = Array.from({ length: MOST_HELD - 1 }, (_, n) => ({
    turn: `h${n}`,
    session,
    chatId: 'place:room',
    messageId: `h${n}`,
  }))
  const host = hosts.attach('kate', { held, proven: true })
  await connector.deliver(turn(1))
  expect(connector.room?.(session)).toBe(0)
  await expect(connector.deliver(turn(2))).rejects.toMatchObject({ code: 'agent_absent' })
  await host.call('reply', { chat_id: 'place:room', text: 'all of it', reply_to: 'm1' })
  await connector.deliver(turn(2))
  expect(host.texts()).toEqual(['message 1', 'message 2'])
})

it('[S6.ch-kept] what a host has after an end of the daemon goes on with it, seen as it was; what nobody has does not', async () => {
  const { hosts, connector, calls } = await opened()
  const recorded = await startRecorded(connector)
  const held = [1, 2].map((n) => ({ ...turn(n), session: 'room' }))
  const host = hosts.attach('kate', { proven: true, held })
  expect(connector.takeUp?.(turn(1), true)).toBe(true)
  expect(connector.takeUp?.(turn(2), false)).toBe(true)
  expect(connector.takeUp?.(turn(3), false)).toBe(false)
  await host.call('reply', { chat_id: 'place:room', text: 'two', reply_to: 'm2' })
  expect(calls.at(-1)?.caller.turn).toBe('t2')
  expect(recorded.outputs).toMatchObject([
    { kind: 'evidence', turn: 't2', of: 'seen' },
    { kind: 'evidence', turn: 't1', of: 'answered', covered: true },
  ])
  expect(host.events).toEqual([])
})

it('[I14.seen-again] a host that went gives back what it had seen, and whoever comes next is written it, marked', async () => {
  const { clock, hosts, connector, proven } = await opened()
  const recorded = await startRecorded(connector)
  const first = hosts.attach('kate')
  await proven(first)
  await connector.deliver(turn(1))
  await first.call('react', { chat_id: 'place:room', message_id: 'm1', emoji: '👀' })
  recorded.outputs.length = 0
  first.detach()
  await clock.advance(60_000)
  expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'] }])
  expect(connector.redelivery.seen).toBe('again')
  const next = hosts.attach('kate')
  await connector.deliver(turn(1, { repeat: true }))
  expect(next.events).toMatchObject([{ meta: { redelivery: 'true' } }])
})

it('[S6.ch-kept] a host whose line broke comes back with what it had: no attempt was made, and what was seen is seen', async () => {
  const { clock, hosts, connector, proven } = await opened()
  const recorded = await startRecorded(connector)
  const first = hosts.attach('kate', { routingKey: 'session' })
  await proven(first)
  for (const n of [1, 2]) await connector.deliver(turn(n))
  await first.call('react', { chat_id: 'place:room', message_id: 'm1', emoji: '👀' })
  first.detach()
  await clock.settle()
  recorded.outputs.length = 0
  const held = [1, 2].map((n) => ({ ...turn(n), session: 'room', seen: n === 1 }))
  const again = hosts.attach('kate', { routingKey: 'session', proven: true, held })
  for (const n of [1, 2]) await connector.deliver(turn(n, { repeat: true }))
  expect(recorded.outputs).toEqual([
    { kind: 'kept', turn: 't1', seen: true },
    { kind: 'kept', turn: 't2', seen: false },
  ])
  expect(again.events).toEqual([])
  recorded.outputs.length = 0
  await connector.stop()
  await clock.settle()
  expect(recorded.outputs, 'an end of ours gives nothing up').toMatchObject([
    { kind: 'returned', turns: ['t1', 't2'], counted: true, kept: true },
  ])
})
