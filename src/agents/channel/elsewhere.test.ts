// Several nodes: what an unproven host here leaves unseen is for a host that another node has.
import { expect, it } from 'vitest'
import { createTestClock, startRecorded } from '../../testing/index.ts'
import { createFakeHosts } from './fixtures/fake-hosts.ts'
import { channelConnector } from './fixtures/open-connector.ts'
import { turn } from './fixtures/opened.ts'
import { TRIAL_MS } from './moves.ts'

const other = (n: number) => turn(n, { session: 'other', chatId: 'place:other' })

it('[S6.ch-unproven-30s] [I14.proven-elsewhere] where another node has a host, what an unproven one leaves unseen is theirs after 30 s, once', async () => {
  const clock = createTestClock()
  let elsewhere = true
  const quiet = createFakeHosts()
  const own = channelConnector(clock, quiet, { isElsewhere: () => elsewhere })
  const given = await startRecorded(own)
  const host = quiet.attach('kate')
  await own.deliver(turn(1))
  await own.deliver(turn(2))
  await own.deliver(other(3))
  await clock.advance(TRIAL_MS - 1)
  expect(given.outputs).toEqual([])
  await clock.advance(1)
  const returned = given.outputs.flatMap((one) => (one.kind === 'returned' ? [one] : []))
  expect(returned.map(({ turns, counted }) => ({ turns, counted }))).toEqual([
    { turns: ['t1', 't2'], counted: false },
    { turns: ['t3'], counted: false },
  ])
  // For a while this node takes no more of those sessions: the other one comes first.
  expect([own.room?.(turn(1).session), own.room?.(other(3).session)]).toEqual([0, 0])
  // Nobody took it after all: it comes back, and stays.
  await clock.advance(10 * TRIAL_MS)
  await own.deliver(turn(1, { repeat: true }))
  await clock.advance(10 * TRIAL_MS)
  expect(given.outputs.filter((one) => one.kind === 'returned')).toHaveLength(2)
  // It was written down this line before: the host has it, and is not written it twice.
  expect(host.texts()).toEqual(['message 1', 'message 2', 'message 3'])
  // A proven host keeps what it has, whoever else there is.
  await host.call('reply', { chat_id: 'place:room', text: 'yes' })
  await own.deliver(turn(4))
  await clock.advance(10 * TRIAL_MS)
  expect(given.outputs.filter((one) => one.kind === 'returned')).toHaveLength(2)
  elsewhere = false
  await own.stop()
})
