// The lease of a link: who may connect, what is reported while another node may, and what the loss ends.
import { expect, it } from 'vitest'
import type { LinkState } from '../../contract/index.ts'
import { LEASE_MS } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createLeasedLink } from './leased-link.ts'

const WORDS = { lost: 'lost', elsewhere: 'elsewhere', unknown: 'unknown' }

function opened(answers: (boolean | Error)[]) {
  const clock = createTestClock()
  const told: LinkState[] = []
  const done: string[] = []
  const lease = {
    async take() {
      done.push('take')
      const answer = answers.shift() ?? false
      if (answer instanceof Error) throw answer
      return answer
    },
    async release() {
      done.push('release')
      throw new Error('away')
    },
  }
  const link = createLeasedLink(lease, {
    ...{ clock, words: WORDS },
    report: (state) => told.push(state),
    onLost: () => done.push('ended'),
  })
  return { clock, told, done, link }
}

it('says who may connect: where it is held nobody is asked again, unless something failed', async () => {
  const { link, done, told } = opened([true, true])
  expect(await link.mayConnect(0)).toBe(true)
  expect(await link.mayConnect(0)).toBe(true)
  expect(done).toEqual(['take'])
  expect(await link.mayConnect(1)).toBe(true)
  expect([done, told]).toEqual([['take', 'take'], []])
  // A lease that cannot be released runs out.
  await expect(link.release()).resolves.toBeUndefined()
})

it('tells apart what another node has from what the store does not say', async () => {
  const { link, told } = opened([false, new Error('away')])
  expect([await link.mayConnect(0), await link.mayConnect(0)]).toEqual([false, false])
  expect(told).toEqual([
    { state: 'waiting', detail: 'elsewhere' },
    { state: 'connecting', detail: 'unknown' },
  ])
})

it('ends the connection when it is lost', async () => {
  const { link, clock, told, done } = opened([true, false])
  await link.mayConnect(0)
  await clock.advance(LEASE_MS)
  expect(told).toEqual([{ state: 'connecting', detail: 'lost' }])
  expect(done).toEqual(['take', 'take', 'ended'])
})

it('without one this node always may', async () => {
  const told: LinkState[] = []
  const link = createLeasedLink(undefined, {
    clock: createTestClock(),
    words: WORDS,
    report: (state) => told.push(state),
    onLost: () => undefined,
  })
  expect(await link.mayConnect(3)).toBe(true)
  await link.release()
  expect(told).toEqual([])
})
