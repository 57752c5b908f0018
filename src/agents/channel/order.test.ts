// Order within a session while hosts are tried: a turn behind one that may move never overtakes it.
import { expect, it } from 'vitest'
import { createTestClock, delivery, startRecorded } from '../../testing/index.ts'
import { createFakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'
import { TRIAL_MS } from './moves.ts'

async function opened() {
  const clock = createTestClock()
  const hosts = createFakeHosts()
  const connector = channelConnector(clock, hosts)
  const recorded = await startRecorded(connector)
  const turn = (n: number, over: object = {}) =>
    delivery(`message ${n}`, { turn: `t${n}`, messageId: `m${n}`, ...over })
  const room = () => connector.room?.(delivery('').session) ?? 0
  return { clock, hosts, connector, recorded, turn, room }
}

it('[S6.ch-frozen] a second host gets neither the turn that is tried with nor what waits behind it, until it moved', async () => {
  const { clock, hosts, connector, recorded, turn, room } = await opened()
  hosts.attach('kate')
  await connector.deliver(turn(1))
  const next = hosts.attach('kate')
  expect(room()).toBe(0)
  await expect(connector.deliver(turn(2))).rejects.toMatchObject({ code: 'agent_absent' })
  await clock.advance(TRIAL_MS)
  expect(next.texts()).toEqual(['message 1'])
  expect(recorded.outputs).toEqual([])
  await next.call('reply', { chat_id: 'place:room', text: 'here' })
  await connector.deliver(turn(2))
  expect(next.texts()).toEqual(['message 1', 'message 2'])
})

it('[S6.ch-frozen] a proven host does not get it either; other sessions go on meanwhile', async () => {
  const { hosts, connector, turn, room } = await opened()
  const trial = hosts.attach('kate')
  await connector.deliver(turn(1))
  const proven = hosts.attach('kate', { proven: true })
  expect(room()).toBe(0)
  await connector.deliver(turn(3, { session: 'other', chatId: 'place:other' }))
  expect(proven.texts()).toEqual(['message 3'])
  // It was only slow. Its answer proves it, and the session continues there.
  await trial.call('reply', { chat_id: 'place:room', text: 'here' })
  await connector.deliver(turn(2))
  expect(trial.texts()).toEqual(['message 1', 'message 2'])
})

it('[S6.ch-frozen] when the host that is tried goes away, nobody waits for it any longer', async () => {
  const { clock, hosts, connector, recorded, turn, room } = await opened()
  const trial = hosts.attach('kate')
  await connector.deliver(turn(1))
  const next = hosts.attach('kate')
  trial.detach()
  await clock.settle()
  expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'], counted: false }])
  expect(room()).toBeGreaterThan(0)
  await connector.deliver(turn(1, { repeat: true }))
  expect(next.texts()).toEqual(['message 1'])
})

it('[S6.ch-frozen] [I14.frozen-host-queued] a host that takes nothing gets what its line has room for, and no more is taken', async () => {
  const { hosts, connector, recorded, turn, room } = await opened()
  const frozen = hosts.attach('kate')
  let take: () => void = () => undefined
  frozen.onEvent = () => {
    frozen.room -= 1
    return new Promise<void>((resolve) => {
      take = resolve
    })
  }
  frozen.room = 2
  for (const n of [1, 2]) await connector.deliver(turn(n))
  expect([room(), frozen.texts().length]).toEqual([0, 2])
  const before = recorded.roomy
  frozen.room = 1
  take()
  await new Promise((resolve) => setImmediate(resolve))
  expect([room(), recorded.roomy > before]).toEqual([1, true])
})

it('[I14.moves-once] a moved turn that both hosts hold goes back to the queue only when the last of them went', async () => {
  const { clock, hosts, connector, recorded, turn } = await opened()
  const [a, b] = [hosts.attach('kate'), hosts.attach('kate')]
  await connector.deliver(turn(1))
  await clock.advance(TRIAL_MS)
  b.detach()
  await clock.settle()
  expect(recorded.outputs).toEqual([])
  a.detach()
  await clock.settle()
  expect(recorded.outputs).toMatchObject([{ kind: 'returned', turns: ['t1'] }])
})

it.each([
  ['offered again', true],
  ['taken up where it was', false],
])(
  '[S6.ch-unproven-30s] a turn that an unproven host brought back is tried with there when it is %s, and then goes to the next',
  async (_, offered) => {
    const { clock, hosts, connector, recorded, turn, room } = await opened()
    const { session, chatId, messageId } = turn(1)
    const back = hosts.attach('kate', { held: [{ turn: 't1', session, chatId, messageId }] })
    if (offered) await connector.deliver(turn(1, { repeat: true }))
    else expect(connector.takeUp?.(turn(1), false)).toBe(true)
    const next = hosts.attach('kate', { proven: true })
    expect(room()).toBe(0)
    await clock.advance(TRIAL_MS - 1)
    expect([back.texts(), next.texts(), recorded.outputs]).toEqual([[], [], []])
    await clock.advance(1)
    await connector.deliver(turn(2))
    expect([back.texts(), next.texts()]).toEqual([[], ['message 1', 'message 2']])
    expect(next.events[0]?.meta.redelivery).toBe('true')
  },
)
