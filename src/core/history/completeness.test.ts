// Which of several nodes compares: a look after a connect is not lost when another node walks at that moment.
import { expect, it } from 'vitest'
import type {
  HistoryLinkRow,
  HistoryReader,
  HistorySettled,
  InboundEvent,
  Store,
} from '../../contract/index.ts'
import { createTestClock } from '../../testing/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import type { Link } from '../links.ts'
import { watchHistory } from './completeness.ts'
import { completenessOf } from './completeness-of.ts'

const SECOND = 1_000

/** One integration, whose lease another node holds while `busy` is set. */
function watched(history: Partial<HistoryReader> = {}) {
  const clock = createTestClock()
  const began = clock.now()
  /** Start times of this node's walks, in seconds. */
  const walks: number[] = []
  /** Messages received as missed, with their times in seconds. */
  const missed: (readonly [string, number])[] = []
  let busy = false
  let leases = 0
  let row: HistoryLinkRow = {
    ...{ integration: 'chat', beganAt: began, until: null, comparedAt: null },
    ...{ state: 'behind', detail: null },
  }
  const settleHistory = async ({ state, detail, until, comparedAt }: HistorySettled) => {
    row = { ...row, state, detail, until: until ?? row.until, comparedAt: comparedAt ?? row.comparedAt }
  }
  const nothing = async () => []
  const lease = async () => {
    leases += 1
    return busy ? null : { token: 1 }
  }
  const store = {
    ...{ shared: true, beginHistory: async () => row, settleHistory, releaseLease: async () => undefined },
    ...{ lease, historyMarks: nothing, marksSince: nothing },
    ...{
      turns: nothing,
      sends: nothing,
      knownMessages: async () =>
        missed.map(([messageId]) => ({ conversation: 'room', messageId, editVersion: 0 })),
    },
  } as unknown as Store
  const places = async () => {
    walks.push((clock.now() - began) / SECOND)
    return { places: [] }
  }
  const adapter = {
    link: { state: () => ({ state: 'up' }) },
    history: { places, read: () => Promise.reject(), ...history },
  }
  const link = { ...{ integration: 'chat', platform: 'test', adapter, lastInAt: null, lastOutAt: null } }
  const late = async (_: string, events: readonly InboundEvent[]) => {
    for (const { messageId = '' } of events) missed.push([messageId, (clock.now() - began) / SECOND])
    return events.map(() => ({ duplicate: false }))
  }
  const watch = watchHistory(link as unknown as Link, {
    ...{ store, clock, log: createRecordingLog(), intake: { late } as never },
  })
  return {
    watch,
    walks,
    missed,
    now: () => clock.now(),
    leases: () => leases,
    pass: (seconds: number) => clock.advance(seconds * SECOND),
    busy(is: boolean) {
      busy = is
    },
    /** The other node started a comparison now and finished it. */
    async comparedElsewhere() {
      const upTo = clock.now() - 60 * SECOND
      await settleHistory({
        integration: 'chat',
        state: 'complete',
        detail: null,
        until: upTo,
        comparedAt: upTo,
      })
    },
  }
}

it('[I15.grace] the look 75 s after a connect comes a minute later where another node walks just then, not with the background’s', async () => {
  const { watch, walks, pass, busy } = watched()
  await pass(300)
  watch.connected()
  await pass(70)
  expect(walks).toEqual([0, 300])
  busy(true)
  await pass(10)
  busy(false)
  await pass(100)
  expect(walks).toEqual([0, 300, 435])
  await watch.stop()
})

it('[I15.one-walks] it does not come where the other node has compared what was ripe by then', async () => {
  const { watch, walks, pass, busy, comparedElsewhere } = watched()
  await pass(300)
  watch.connected()
  await pass(70)
  busy(true)
  await pass(10)
  await comparedElsewhere()
  busy(false)
  await pass(500)
  expect(walks).toEqual([0, 300])
  await pass(200)
  expect(walks).toHaveLength(3)
  await watch.stop()
})

it('[I15.one-walks] a walk that the other node began within the minute after the connect is none in its place', async () => {
  const { watch, walks, pass, busy, comparedElsewhere } = watched()
  await pass(300)
  watch.connected()
  await pass(30)
  await comparedElsewhere()
  await pass(40)
  busy(true)
  await pass(10)
  busy(false)
  await pass(100)
  expect(walks).toEqual([0, 300, 435])
  await watch.stop()
})

it('[I15.one-walks] a look in the background that finds a fresh comparison takes no lease from who walks', async () => {
  const { watch, walks, leases, pass, comparedElsewhere } = watched()
  await pass(590)
  await comparedElsewhere()
  const taken = leases()
  await pass(500)
  expect(walks).toEqual([0])
  expect(leases()).toBe(taken)
  await pass(200)
  expect(walks).toHaveLength(2)
  await watch.stop()
})

it.each([
  ['itself reads on where it stopped is missed when it is a minute old', undefined, 375],
  ['brings only what is said from then on is received at once', () => ({ id: 'room' }), 300],
])('[I19.in-waited] what was said just before the connect of a link that %s', async (_, livePlace, at) => {
  let saidAt = Number.POSITIVE_INFINITY
  const read: HistoryReader['read'] = async () => {
    const event = {
      ...({ kind: 'message', conversation: 'room', chat: 'direct', sender: { id: 'anna' } } as const),
      ...{ at: saidAt, text: 'hello', messageId: 'one' },
    }
    return {
      entries: saidAt === Number.POSITIVE_INFINITY ? [] : [{ position: '1', at: saidAt, event }],
      more: false,
    }
  }
  const places = async () => ({ places: [{ id: 'room' }] })
  const { watch, missed, pass, now } = watched({ places, read, ...(livePlace && { livePlace }) })
  await pass(298)
  saidAt = now()
  await pass(2)
  watch.connected()
  await pass(100)
  expect(missed).toEqual([['one', at]])
  await watch.stop()
})

it('[I35.b32] an integration that was not compared yet says so', () => {
  const row: HistoryLinkRow = {
    ...{ integration: 'chat', beganAt: 0, until: null, comparedAt: null, state: 'behind', detail: null },
  }
  const behind = { state: 'behind', until: null, detail: 'not compared yet' }
  expect([completenessOf(undefined, true, 1), completenessOf(row, true, 1)]).toEqual([behind, behind])
})
