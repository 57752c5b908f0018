// Order within a session while hosts are tried: what waits behind a turn on trial overtakes it nowhere.
import { expect, it } from 'vitest'
import { createTestClock, delivery, startRecorded } from '../../testing/index.ts'
import { createFakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'
import { TRIAL_MS } from './index.ts'

async function opened() {
  const clock = createTestClock()
  const hosts = createFakeHosts()
  const connector = channelConnector(clock, hosts)
  const recorded = await startRecorded(connector)
  const turn = (n: number, over: object = {}) =>
    delivery(`message ${n}`, { turn: `t${n}`, messageId: `m${n}`, ...over })
  return { clock, hosts, connector, recorded, turn }
}

it('[S6.ch-frozen] a second host gets neither the turn on trial nor what waits behind it, until the trial is over', async () => {
  const { clock, hosts, connector, recorded, turn } = await opened()
  hosts.attach('kate')
  await connector.deliver(turn(1))
  const next = hosts.attach('kate')
  const behind = connector.deliver(turn(2)).catch((thrown: { code: string }) => thrown.code)
  await clock.advance(TRIAL_MS - 1)
  expect(next.texts()).toEqual([])
  await clock.advance(1)
  expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'], counted: false }])
  // Back into the queue with it: the lane offers them again, the oldest first.
  expect(await behind).toBe('agent_absent')
  await connector.deliver(turn(1, { repeat: true }))
  const second = connector.deliver(turn(2))
  await next.call('reply', { chat_id: 'place:room', text: 'here' })
  await second
  expect(next.texts()).toEqual(['message 1', 'message 2'])
})

it('[S6.ch-frozen] a proven host does not get it either; other sessions go on meanwhile', async () => {
  const { clock, hosts, connector, turn } = await opened()
  const trial = hosts.attach('kate')
  await connector.deliver(turn(1))
  const proven = hosts.attach('kate', { proven: true })
  const behind = connector.deliver(turn(2))
  await connector.deliver(turn(3, { session: 'other', chatId: 'place:other' }))
  await clock.settle()
  expect(proven.texts()).toEqual(['message 3'])
  // It was only slow: its answer proves it, and the session goes on there.
  await trial.call('reply', { chat_id: 'place:room', text: 'here' })
  await behind
  expect(trial.texts()).toEqual(['message 1', 'message 2'])
})

it('[S6.ch-frozen] when the host on trial goes away, nobody waits for it any longer', async () => {
  const { clock, hosts, connector, turn } = await opened()
  const trial = hosts.attach('kate')
  await connector.deliver(turn(1))
  const next = hosts.attach('kate')
  const behind = connector.deliver(turn(2)).catch((thrown: { code: string }) => thrown.code)
  await clock.settle()
  trial.detach()
  await clock.settle()
  expect(await behind).toBe('agent_absent')
  await connector.deliver(turn(1, { repeat: true }))
  expect(next.texts()).toEqual(['message 1'])
})

it('[S6.ch-frozen] a host that takes nothing holds up its lane no longer than its trial', async () => {
  const { clock, hosts, connector, recorded, turn } = await opened()
  const frozen = hosts.attach('kate')
  frozen.onEvent = () => new Promise(() => undefined)
  let over = false
  const one = connector.deliver(turn(1)).then(() => {
    over = true
  })
  await clock.advance(TRIAL_MS - 1)
  expect(over).toBe(false)
  await clock.advance(1)
  await one
  expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'] }])
})

it.each([
  ['offered again', true],
  ['taken up where it was', false],
])(
  '[S6.ch-unproven-30s] a turn that an unproven host brought back is on trial there when it is %s, and then goes to the next',
  async (_, offered) => {
    const { clock, hosts, connector, recorded, turn } = await opened()
    const { session, chatId, messageId } = turn(1)
    const back = hosts.attach('kate', { held: [{ turn: 't1', session, chatId, messageId }] })
    if (offered) await connector.deliver(turn(1, { repeat: true }))
    else expect(connector.takeUp?.(turn(1), false)).toBe(true)
    const next = hosts.attach('kate', { proven: true })
    const behind = connector.deliver(turn(2)).catch((thrown: { code: string }) => thrown.code)
    await clock.advance(TRIAL_MS - 1)
    expect([back.texts(), next.texts(), recorded.outputs]).toEqual([[], [], []])
    await clock.advance(1)
    expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'], counted: false }])
    expect(await behind).toBe('agent_absent')
    for (const n of [1, 2]) await connector.deliver(turn(n, { repeat: true }))
    expect([back.texts(), next.texts()]).toEqual([[], ['message 1', 'message 2']])
  },
)
