// Turns put back behind older ones: the lane is not released before they are written.
import { expect, it } from 'vitest'
import type { TurnMove, TurnRow } from '../../../contract/index.ts'
import type { LaneHold } from './lane-holds.ts'
import { createPutBack, type PutBackDeps } from './put-back.ts'

it('[I14.rolling-hosts] what was taken while older ones went back is behind them, and the lane waits for it', async () => {
  const asked: string[] = []
  const { putBackBehind } = createPutBack({
    store: {
      async moveTurns(moves: readonly TurnMove[]) {
        asked.push(...moves.map(({ turn, uncounted }) => `${turn} ${uncounted ? 'uncounted' : 'counted'}`))
        return moves.map(() => 'moved' as const)
      },
    },
    storeRetry: { persist: (_: string, work: () => Promise<unknown>) => work() },
    holds: { land: () => undefined, drop: () => undefined },
    signal: () => undefined,
  } as unknown as PutBackDeps)
  let older = () => undefined as unknown
  const hold = {
    ...{ lane: 's1', token: 1, putBacks: 0, flights: new Map() },
    handingOver: Promise.resolve(),
    puttingBack: new Promise((resolve) => {
      older = () => resolve(undefined)
    }),
  } as unknown as LaneHold
  const row = { id: 't2', integration: 'chat', conversation: 'c', thread: null } as unknown as TurnRow
  const going = putBackBehind(hold, [row])
  let isFree = false
  const letGo = hold.handingOver.then(() => {
    isFree = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect([asked, isFree]).toEqual([[], false])
  older()
  await Promise.all([going, letGo])
  expect(asked).toEqual(['t2 uncounted'])
})
