// Many lanes are renewed in slices, so no commit of the keeper delays the others for long.
import { expect, it } from 'vitest'
import { createTestClock } from '../../testing/test-clock.ts'
import { createLaneKeeper, type KeptLane } from './lane-keeper.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

it('[I23.sweep-slices] ten thousand lanes are renewed and given back some hundred a commit, each once', async () => {
  const clock = createTestClock()
  const renewed: number[] = []
  const released: string[] = []
  const sizes: number[] = []
  const lost: string[] = []
  const keeper = createLaneKeeper<KeptLane>({
    ...{ kind: 'turns', clock, log: quiet, leaseMs: 10_000 },
    store: {
      shared: false,
      async renewLanes(_kind, lanes) {
        renewed.push(lanes.length)
        return lanes.map(({ lane }) => lane !== 's7777')
      },
      async releaseLanes(_kind, lanes) {
        sizes.push(lanes.length)
        released.push(...lanes.map(({ lane }) => lane))
      },
    },
    lost(hold) {
      lost.push(hold.lane)
      keeper.forget(hold)
    },
  })
  for (let n = 0; n < 10_000; n++)
    keeper.keep({ lane: `s${n}`, token: 1, until: 0, restingSince: null }, clock.now())
  await clock.advance(3_000)
  expect(renewed).toEqual(Array.from({ length: 20 }, () => 500))
  expect(lost).toEqual(['s7777'])
  await keeper.stop()
  expect([new Set(released).size, released.length, Math.max(...sizes)]).toEqual([9_999, 9_999, 500])
})
