// People who write to an absent agent get one notice per outage and lane, after the grace period. A second node stands
// by.
import { expect, it } from 'vitest'
import type { NewSend, TurnRow, Work } from '../../../contract/index.ts'
import { createRecordingLog } from '../../../testing/recording-log.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createOfflineNotices } from './offline-notices.ts'

const GRACE_MS = 5_000
const STAND_BY_MS = 3_000

function opened(lanes: readonly string[] = []) {
  const clock = createTestClock()
  const log = createRecordingLog()
  const said: NewSend[] = []
  const asked: (string | undefined)[] = []
  const world = {
    known: true,
    outage: 1 as number | null,
    first: true,
    speaks: true,
    stopped: false,
    waiting: true,
    away: false,
  }
  const notices = createOfflineNotices({
    clock,
    log,
    roster: { get: () => (world.known ? ({} as never) : undefined) },
    cluster: { outageOf: () => world.outage, isFirst: () => world.first },
    canSpeak: () => world.speaks,
    stopped: () => world.stopped,
    async say(sends) {
      if (world.away) throw new Error('the store is away')
      said.push(...sends)
    },
    store: {
      async turns({ session }) {
        const row = { id: 't', integration: 'chat', platform: 'test', conversation: session, thread: null }
        return world.waiting ? [row as unknown as TurnRow] : []
      },
      async findWork(_kind, [scope = ''], { limit, after }) {
        asked.push(after)
        const from = after === undefined ? 0 : lanes.indexOf(after) + 1
        return lanes.slice(from, from + limit).map((lane): Work => ({ lane, scope }))
      },
    },
  })
  return { notices, clock, log, said, asked, world }
}

const keys = (said: readonly NewSend[]) => said.map(({ idempotencyKey }) => idempotencyKey)

it('is told when the grace is over and not before, once however much is written, and anew in the next outage', async () => {
  const { notices, clock, said, world } = opened()
  for (let at = 0; at < 3; at++) notices.tell('s', 'kate')
  await clock.advance(GRACE_MS - 1)
  expect(said).toEqual([])
  await clock.advance(1)
  expect(keys(said)).toEqual(['offline:kate:1:s'])
  notices.tell('s', 'kate')
  await clock.advance(60_000)
  expect(said).toHaveLength(1)
  world.outage = 2
  notices.tell('s', 'kate')
  notices.tell('other', 'kate')
  await clock.advance(GRACE_MS)
  expect(keys(said).slice(1)).toEqual(['offline:kate:2:s', 'offline:kate:2:other'])
})

it('a node that is not the first for the lane stands by, so that the other has told by then', async () => {
  const { notices, clock, said, world } = opened()
  world.first = false
  notices.tell('s', 'kate')
  await clock.advance(GRACE_MS + STAND_BY_MS - 1)
  expect(said).toEqual([])
  await clock.advance(1)
  expect(said).toHaveLength(1)
})

it('nobody is told of an agent that is here, unknown, or back (also to go again) when the grace is over', async () => {
  const { notices, clock, said, world } = opened()
  world.outage = null
  notices.tell('here', 'kate')
  world.outage = 1
  world.known = false
  notices.tell('unknown', 'kate')
  world.known = true
  expect(clock.pending()).toBe(0)
  notices.tell('back', 'kate')
  world.outage = null
  await clock.advance(GRACE_MS)
  world.outage = 2
  notices.tell('gone again', 'kate')
  world.outage = 3
  await clock.advance(GRACE_MS)
  expect(said).toEqual([])
})

it('a stop ends what was still to be told', async () => {
  const { notices, clock, said, world } = opened()
  notices.tell('s', 'kate')
  world.stopped = true
  await clock.advance(GRACE_MS)
  expect(said).toEqual([])
})

it('where nobody was told, the next message tries again; a place that cannot be spoken to is not tried again', async () => {
  const { notices, clock, log, said, world } = opened()
  world.waiting = false
  notices.tell('s', 'kate')
  await clock.advance(GRACE_MS)
  world.waiting = true
  world.away = true
  notices.tell('s', 'kate')
  await clock.advance(GRACE_MS)
  expect(log.lines.join()).toContain('no offline notice')
  world.away = false
  notices.tell('s', 'kate')
  await clock.advance(GRACE_MS)
  expect(keys(said)).toEqual(['offline:kate:1:s'])
  world.speaks = false
  notices.tell('deaf', 'kate')
  await clock.advance(GRACE_MS)
  notices.tell('deaf', 'kate')
  expect(clock.pending()).toBe(0)
  expect(said).toHaveLength(1)
})

it('whoever waits already is told page by page; a stop ends it after the page', async () => {
  const lanes = Array.from({ length: 501 }, (_, at) => `lane ${String(at).padStart(3, '0')}`)
  const { notices, clock, said, asked } = opened(lanes)
  const telling = notices.tellWaiting('kate')
  await clock.advance(0)
  await telling
  expect(asked).toEqual([undefined, 'lane 499'])
  await clock.advance(GRACE_MS)
  expect(said).toHaveLength(501)

  const stopping = opened(lanes)
  stopping.world.stopped = true
  await stopping.notices.tellWaiting('kate')
  expect(stopping.asked).toEqual([undefined])
})

it('remembers so many lanes of an outage and no more: beyond that one may be told of again, which its key makes once', () => {
  const { notices, clock } = opened()
  for (let at = 0; at < 50_000; at++) notices.tell(`lane ${at}`, 'kate')
  notices.tell('lane 0', 'kate')
  notices.tell('lane 0', 'kate')
  expect(clock.pending()).toBe(50_001)
})
