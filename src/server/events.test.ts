// The readers of /events: the limit of one principal.
import { expect, it } from 'vitest'
import type { HttpReply, Principal, StreamSink } from '../contract/index.ts'
import { createTestClock } from '../testing/test-clock.ts'
import { createEventStreams } from './events.ts'

const user = (id: string): Principal => ({ kind: 'user', id, roles: ['operator'] })

function setUp() {
  const streams = createEventStreams({ watch: () => () => {}, clock: createTestClock() }, 15_000)
  const closing: (() => void)[] = []
  const ends: string[] = []
  const read = (reply: HttpReply) =>
    reply.stream?.({
      write: () => {},
      end: () => void ends.push('ended'),
      onClose: (run: () => void) => void closing.push(run),
    } as unknown as StreamSink)
  const open = (who: string) => streams.open(user(who), async () => true)
  return { open, read, closing, ends }
}

it('[I14.events-places] a principal has so many, another has its own, and who leaves makes room', () => {
  const { open, read, closing } = setUp()
  for (let count = 0; count < 32; count += 1) read(open('mallory'))
  expect(() => open('mallory')).toThrow(
    expect.objectContaining({ code: 'rate_limited', retryAfterMs: 30_000 }),
  )
  read(open('owner'))
  for (const close of closing.splice(0, 2)) close()
  expect(() => open('mallory')).not.toThrow()
})

it('[I14.events-places] of many that come at once none gets a place too many', () => {
  const { open, read, ends } = setUp()
  const replies = Array.from({ length: 40 }, () => open('mallory'))
  for (const reply of replies) read(reply)
  expect(ends).toHaveLength(8)
})

it('[I35.b23] a reader counts as somebody who may be asked only if they may decide', () => {
  const told: boolean[] = []
  const watch = (_listen: unknown, { decides }: { readonly decides: boolean }) => {
    told.push(decides)
    return () => {}
  }
  const streams = createEventStreams({ watch, clock: createTestClock() }, 15_000)
  const sink = { write: () => {}, end: () => {}, onClose: () => {} } as unknown as StreamSink
  for (const roles of [['owner'], ['approver'], ['viewer'], ['operator']])
    streams.open({ kind: 'user', id: roles.join(), roles }, async () => true).stream?.(sink)
  expect(told).toEqual([true, true, false, false])
})
