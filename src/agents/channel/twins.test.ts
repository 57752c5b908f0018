// Twins: two shims of one host (its .mcp.json and its plugin both start one), and the same shim when it returns.
import { expect, it } from 'vitest'
import type { Verdict } from '../../contract/index.ts'
import { openChannel, turn } from './fixtures/opened.ts'
import { TRIAL_MS } from './moves.ts'

const ASK = { requestId: 'abcde', toolName: 'Bash', description: '', inputPreview: 'ls' }
const VERDICT: Omit<Verdict, 'ask'> = {
  ...{ approval: 'v', session: 's', turn: null, decidedBy: 'dev' },
  behavior: 'allow',
  cause: 'person',
}

async function twins() {
  const open = await openChannel()
  const plugin = open.hosts.attach('kate', { routingKey: 'session', shim: 'plugin' })
  const plain = open.hosts.attach('kate', { routingKey: 'session', shim: 'plain' })
  return { ...open, plugin, plain }
}

it('[I14.twins-one-host] [I14.twin-moves-once] a turn goes down one line, and after 30 s once down the other, marked', async () => {
  const { clock, connector, recorded, plugin, plain } = await twins()
  for (const n of [1, 2]) await connector.deliver(turn(n))
  expect([plugin.texts(), plain.texts()]).toEqual([[], ['message 1', 'message 2']])
  await clock.advance(TRIAL_MS)
  expect(plugin.events.map(({ content, meta }) => [content, meta.redelivery])).toEqual([
    ['message 1', 'true'],
    ['message 2', 'true'],
  ])
  await clock.advance(10 * TRIAL_MS)
  expect([plugin.events.length, plain.events.length, recorded.outputs]).toEqual([2, 2, []])
})

it('[I14.twin-reply] a reply through either line counts, and the line that is listened to is found', async () => {
  const { clock, connector, tools, evidence, plugin, plain } = await twins()
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  const reply = { chat_id: 'place:room', text: 'through the other one', reply_to: 'm1' }
  expect(await plain.call('reply', reply)).toMatchObject({ isError: false })
  expect(evidence()).toEqual(['t1 seen'])
  expect(tools.calls.at(-1)?.caller.turn).toBe('t1')
  // Only a turn on one line tells which line is listened to.
  await connector.deliver(turn(2))
  const [first, second] = plugin.texts().includes('message 2') ? [plugin, plain] : [plain, plugin]
  await second.call('reply', { ...reply, reply_to: 'm2' })
  await connector.deliver(turn(3))
  await clock.advance(10 * TRIAL_MS)
  expect([first.texts().at(-1), second.texts().includes('message 3')]).toEqual(['message 3', false])
})

it('[I35.b26] a turn that was answered down the other line sends the next ones there, not 30 s later', async () => {
  const { clock, connector, plugin, plain } = await twins()
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  await plugin.call('reply', { chat_id: 'place:room', text: 'late', reply_to: 'm1' })
  for (const n of [2, 3]) {
    await connector.deliver(turn(n))
    expect(plugin.texts().at(-1)).toBe(`message ${n}`)
    await plugin.call('reply', { chat_id: 'place:room', text: 'at once', reply_to: `m${n}` })
  }
  await clock.advance(10 * TRIAL_MS)
  expect(plain.texts()).toEqual(['message 1'])
})

it('[I35.b26] the line that was heard stays that when its shim comes again, and the other one after it', async () => {
  const { clock, hosts, connector, plugin } = await twins()
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  await plugin.call('reply', { chat_id: 'place:room', text: 'late', reply_to: 'm1' })
  const again = hosts.attach('kate', { routingKey: 'session', shim: 'plugin' })
  const other = hosts.attach('kate', { routingKey: 'session', shim: 'plain' })
  await connector.deliver(turn(2))
  expect([again.texts(), other.texts()]).toEqual([['message 2'], []])
})

it('[I14.twin-moves-once] a turn of a proven host goes down its other line, and to no other host however long it takes', async () => {
  const { clock, hosts, connector, plugin, plain } = await twins()
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  // It came by both lines, which proves the host, but neither line.
  await plain.call('reply', { chat_id: 'place:room', text: 'yes', reply_to: 'm1' })
  await connector.deliver(turn(2))
  const other = hosts.attach('kate')
  await clock.advance(10 * TRIAL_MS)
  expect([plugin, plain].map((line) => line.texts().includes('message 2'))).toEqual([true, true])
  expect(other.texts()).toEqual([])
})

it('[I14.twin-one-request] a request that comes by both is one, and its verdict goes to the host', async () => {
  const { connector, asked, plugin, plain } = await twins()
  await plugin.seat.ask(ASK)
  await plain.seat.ask(ASK)
  expect(asked()).toHaveLength(1)
  plain.detach()
  const [ask] = asked()
  if (!ask) throw new Error('not asked')
  expect(await connector.verdict?.({ ...VERDICT, ask })).toBe('relayed')
  expect(plugin.verdicts).toEqual([{ requestId: 'abcde', behavior: 'allow' }])
})

it('[I14.twins-one-host] over another bearer, or without a name, they are two hosts', async () => {
  const { hosts, connector, recorded } = await openChannel()
  hosts.attach('kate', { routingKey: 'session', shim: 'a', proven: true }, false, 'one bearer')
  hosts.attach('kate', { routingKey: 'session', shim: 'a', proven: true }, false, 'another')
  hosts.attach('kate', { shim: 'b', proven: true })
  hosts.attach('kate', { shim: 'c', proven: true })
  // A host that knows the names of another's session and shim cannot take its place.
  expect(hosts.all()).toHaveLength(4)
  await connector.deliver(turn(1))
  const [first] = hosts.all()
  first?.detach()
  await new Promise((resolve) => setImmediate(resolve))
  expect(recorded.outputs, 'its host is gone').toMatchObject([{ kind: 'returned', turns: ['t1'] }])
})

it('[I14.twin-replaced] the same shim again replaces its line; what it has goes on, what never arrived is written to it', async () => {
  const { clock, hosts, connector, recorded } = await openChannel()
  const facts = { routingKey: 'session', shim: 'shim' }
  const dead = hosts.attach('kate', facts)
  dead.onEvent = ({ turn: id }) => (id === 't2' ? new Promise(() => undefined) : undefined)
  for (const n of [1, 2]) await connector.deliver(turn(n))
  await clock.settle()
  const { session, chatId, messageId } = turn(1)
  const back = hosts.attach('kate', { ...facts, held: [{ turn: 't1', session, chatId, messageId }] })
  await clock.settle()
  expect(hosts.all()).toEqual([back])
  expect(back.texts()).toEqual(['message 2'])
  expect(recorded.outputs).toEqual([])
  await back.call('reply', { chat_id: 'place:room', text: 'both', reply_to: 'm2' })
  expect(back.proved()).toBe('t2')
})

it('[I14.twin-reply] when one line goes, what its host had is not offered again; what it never took goes down the other', async () => {
  const { clock, connector, recorded, plugin, plain } = await twins()
  plain.onEvent = ({ turn: id }) => (id === 't2' ? new Promise(() => undefined) : undefined)
  for (const n of [1, 2]) await connector.deliver(turn(n))
  await clock.settle()
  plain.detach()
  await clock.settle()
  expect(plugin.texts()).toEqual(['message 2'])
  expect(recorded.outputs).toEqual([])
  expect(await plugin.call('reply', { chat_id: 'place:room', text: 'x', reply_to: 'm1' })).toMatchObject({
    isError: false,
  })
})
