// Several nodes: turns that an unproven host here does not see go to a host of another node.
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
  // For a while this node takes no more turns of those sessions, so that the other node comes first.
  expect([own.room?.(turn(1).session), own.room?.(other(3).session)]).toEqual([0, 0])
  // No other node took it, so it returns and stays.
  await clock.advance(10 * TRIAL_MS)
  await own.deliver(turn(1, { repeat: true }))
  await clock.advance(10 * TRIAL_MS)
  expect(given.outputs.filter((one) => one.kind === 'returned')).toHaveLength(2)
  // It was written to this line before, so it is not written to it again.
  expect(host.texts()).toEqual(['message 1', 'message 2', 'message 3'])
  // A proven host keeps its turns, whatever other hosts exist.
  await host.call('reply', { chat_id: 'place:room', text: 'yes' })
  await own.deliver(turn(4))
  await clock.advance(10 * TRIAL_MS)
  expect(given.outputs.filter((one) => one.kind === 'returned')).toHaveLength(2)
  elsewhere = false
  await own.stop()
})
