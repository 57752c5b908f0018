// One lookup for later failures serves all turns that ask meanwhile.
import { expect, it } from 'vitest'
import type { SendRow } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createFailureNotes } from './failure-notes.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

function opened() {
  const clock = createTestClock(1_000_000)
  const looks: { session: string | null; answer: (rows: readonly SendRow[]) => void }[] = []
  const store = {
    unreportedFailures: (session: string | null) =>
      new Promise<readonly SendRow[]>((answer) => looks.push({ session, answer })),
    markReported: async () => undefined,
  }
  return { clock, looks, notes: createFailureNotes({ store: store as never, clock, log: quiet }) }
}

it('turns that ask while somebody looks wait for that look, and go on in their order', async () => {
  const { looks, notes } = opened()
  const went: string[] = []
  const asked = ['one', 'two', 'three'].map((name) => notes.of(name).then(() => went.push(name)))
  expect(looks).toHaveLength(1)
  looks[0]?.answer([])
  await Promise.all(asked)
  expect(went).toEqual(['one', 'two', 'three'])
  await notes.of('four')
  expect(looks).toHaveLength(1)
})

it('what is noticed while somebody looks is looked for again, and nothing is believed for longer than a second', async () => {
  const { clock, looks, notes } = opened()
  const first = notes.of('one')
  notes.noticed()
  const second = notes.of('one')
  expect(looks).toHaveLength(2)
  looks[0]?.answer([])
  await first
  let third = 'waits'
  const asked = notes.of('one').then(() => {
    third = 'went on'
  })
  await Promise.resolve()
  expect([looks.length, third]).toEqual([2, 'waits'])
  looks[1]?.answer([])
  await Promise.all([second, asked])
  await notes.of('one')
  expect(looks).toHaveLength(2)
  await clock.advance(1_001)
  void notes.of('one')
  expect(looks).toHaveLength(3)
})
