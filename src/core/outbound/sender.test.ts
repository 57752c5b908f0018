// A node that slept past its lease sends nothing for the lane. Another node may have the lane and finds the row as left
// behind.
import { expect, it } from 'vitest'
import { LEASE_MS, type SendRow, type TakenSend } from '../../contract/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { createSender, type SenderDeps } from './sender.ts'

const ROW = {
  ...{ id: 'o_1', integration: 'chat', conversation: 'c', thread: null, turn: null, group: null },
  ...{ op: { kind: 'text', text: 'hello' }, platformIds: [], attempts: 1, cause: 'send_message' },
} as unknown as SendRow

function opened({ sleptMs, shared }: { readonly sleptMs: number; readonly shared: boolean }) {
  const clock = createTestClock()
  const sent: string[] = []
  const moved: string[] = []
  let left = 1
  const store = {
    shared,
    file: null,
    onHint: () => undefined,
    findWork: async () => [{ lane: 'chat:c', scope: 'chat' }],
    async takeSends(): Promise<readonly TakenSend[]> {
      const sending = left-- > 0 ? ROW : null
      // The commit stands. The process sleeps before it gets the result.
      if (sending) clock.jump(clock.now() + sleptMs)
      return [{ lane: 'chat:c', outcome: 'taken', token: 1, sending, unsettled: [], nextDueAt: null }]
    },
    async moveSends(moves: readonly { readonly to: string }[]) {
      for (const { to } of moves) moved.push(to)
      return moves.map(() => 'moved')
    },
    renewLanes: async () => [true],
    releaseLanes: async () => undefined,
  }
  const adapter = {
    abilities: {},
    async send() {
      sent.push('hello')
      return { platformIds: ['p1'] }
    },
  }
  const link = { integration: 'chat', platform: 'test', adapter, lastInAt: null, lastOutAt: null }
  const settings = testSettings({ integrations: [testIntegration('chat')] })
  const sender = createSender({
    ...{ store, clock, log: createRecordingLog(), settings: () => settings },
    links: { get: () => link, all: () => [link], reachable: () => ['chat'], onAdded: () => undefined },
    cluster: { isAlive: () => true, onGone: () => undefined },
    streams: { shown: () => undefined, written: () => undefined, ended: async () => undefined },
    refusedNow: async () => null,
    waiters: { has: () => false, settled: () => undefined, stop: () => undefined },
    jitter: () => 0,
  } as unknown as SenderDeps)
  sender.start()
  return { clock, sent, moved, sender }
}

it.each([
  { sleptMs: 0, shared: true, sends: ['hello'] },
  { sleptMs: LEASE_MS - 1, shared: true, sends: ['hello'] },
  { sleptMs: LEASE_MS, shared: true, sends: [] },
  // A store of one node: no other node could have taken the lane.
  { sleptMs: LEASE_MS, shared: false, sends: ['hello'] },
])('[I6.woken-is-silent] after $sleptMs ms, shared: $shared, it sends $sends', async ({ sends, ...how }) => {
  const { clock, sent, moved, sender } = opened(how)
  await clock.advance(10)
  expect(sent).toEqual(sends)
  expect(moved).toEqual(sends.map(() => 'sent'))
  await Promise.all([sender.stop(), clock.advance(20_000)])
})
