// Checking all lanes after missed hints: the store may fail again in the middle.
import { expect, it } from 'vitest'
import { SwitchboardError, type TurnRow } from '../../../contract/index.ts'
import { createRecordingLog } from '../../../testing/recording-log.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { createStoreRetry } from '../../store-retry.ts'
import { createLaneHolds } from './lane-holds.ts'
import { createMovedElsewhere } from './moved-elsewhere.ts'

it('[I6.missed-hints] every lane is woken and every turn is looked at, though the first look fails', async () => {
  const clock = createTestClock()
  const log = createRecordingLog()
  const holds = createLaneHolds({
    clock,
    log,
    leaseMs: 15_000,
    livesOn: () => false,
    signal: () => undefined,
    store: {
      shared: true,
      renewLanes: async (_kind, lanes) => lanes.map(() => true),
      releaseLanes: async () => undefined,
      moveTurns: async (moves) => moves.map(() => 'moved'),
    },
  })
  const rowOf = (id: string) => ({ id, integration: 'demo', conversation: id, thread: null }) as TurnRow
  for (const id of ['a', 'b', 'c']) holds.board(holds.take(id, 'kate', 1, clock.now()), rowOf(id))
  let away = true
  const woken: string[] = []
  const looked: string[] = []
  const movedElsewhere = createMovedElsewhere({
    holds,
    log,
    storeRetry: createStoreRetry(clock, log, {}),
    wake: ({ lane }) => void woken.push(lane),
    ended: (_hold, row) => void looked.push(row.id),
    store: {
      async turn(id) {
        if (away) throw new SwitchboardError('store_unavailable', 'away')
        if (id === 'b') throw new SwitchboardError('store_corrupt', 'this one cannot be read')
        return rowOf(id)
      },
    },
  })
  const looking = movedElsewhere.lookAtAll()
  expect(woken).toEqual(['a', 'b', 'c'])
  await clock.advance(300)
  away = false
  await clock.advance(5_000)
  await looking
  expect(looked).toEqual(['a', 'c'])
  await holds.stop()
})
