// Live messages after a connect: which wait, for how long, in which order, and what a stop does to them.
import { expect, it } from 'vitest'
import type { HistoryPlace, InboundEvent } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createLiveOrder } from './live-order.ts'

const message = (conversation: string, messageId: string): InboundEvent => ({
  ...{
    kind: 'message',
    conversation,
    chat: 'direct',
    sender: { id: 'anna' },
    at: 0,
    text: messageId,
    messageId,
  },
})

function ordered() {
  const clock = createTestClock()
  const looks: { readonly place: string; readonly end: () => void }[] = []
  const received: string[] = []
  const order = createLiveOrder({
    clock,
    reader: { livePlace: ({ conversation }): HistoryPlace => ({ id: conversation }) },
    look: ({ id }) => new Promise((resolve) => looks.push({ place: id, end: resolve })),
  })
  return {
    order,
    clock,
    looks,
    received,
    async brings(...events: readonly InboundEvent[]) {
      const turn = order.wait(events)
      try {
        await turn?.ready
        received.push(...events.map(({ messageId }) => messageId ?? ''))
      } finally {
        turn?.done()
      }
    },
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

it('[I35.b12a] messages of a place wait for one look, and are received as they came', async () => {
  const { order, looks, received, brings } = ordered()
  await brings(message('room', 'before any connect'))
  order.connected()
  const all = [
    brings(message('room', 'r1')),
    brings(message('room', 'r2'), message('hall', 'h1')),
    brings(message('room', 'r3')),
    brings(message('hall', 'h2')),
  ]
  await settled()
  expect(received).toEqual(['before any connect'])
  expect(looks.map(({ place }) => place)).toEqual(['room', 'hall'])
  expect(order.waits({ ...message('room', 'r1'), kind: 'message', text: '' } as never)).toBe(true)
  order.looked('room', order.connects())
  await settled()
  // An event that also names another place waits for that place too, and keeps its position.
  expect(received).toEqual(['before any connect', 'r1'])
  order.looked('hall', order.connects())
  await Promise.all(all)
  expect(received.slice(2)).toEqual(['r2', 'h1', 'r3', 'h2'])
  await brings(message('room', 'r4'))
  expect(looks).toHaveLength(2)
})

it('[I35.b12a] a look of an earlier connect counts for nothing, and a place that could not be looked at waits anew', async () => {
  const { order, looks, received, brings } = ordered()
  order.connected()
  const first = brings(message('room', 'r1'))
  const before = order.connects()
  order.connected()
  order.looked('room', before)
  const second = brings(message('room', 'r2'))
  expect(looks).toHaveLength(2)
  looks[0]?.end()
  await first
  expect(received).toEqual(['r1'])
  looks[1]?.end()
  await second
  void brings(message('room', 'r3'))
  expect(looks).toHaveLength(3)
})

it('[I35.b12a] nothing waits for longer than 30 seconds, nor when the connect is as old', async () => {
  const { order, clock, received, brings } = ordered()
  order.connected()
  await clock.advance(29_000)
  const late = brings(message('room', 'r1'))
  await clock.advance(2_000)
  await brings(message('hall', 'h1'))
  expect(received).toEqual(['h1'])
  await clock.advance(29_000)
  await late
  expect(received).toEqual(['h1', 'r1'])
})

it('[I35.b12a] what waits when the integration stops is not said to be received', async () => {
  const { order, received, brings } = ordered()
  order.connected()
  const waits = brings(message('room', 'r1'))
  order.stop()
  await expect(waits).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(received).toEqual([])
})
