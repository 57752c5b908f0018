// One row of the outbox: the row in hand may be older than the stored one.
import { expect, it } from 'vitest'
import type { SendMove, SendRow } from '../../contract/index.ts'
import { createSending } from './sending.ts'

const BEGINNING = { kind: 'text', text: 'It beg', partial: true } as const
const WHOLE = { kind: 'text', text: 'It began, and ended.' } as const

async function movesOf(stored: SendRow['op']): Promise<readonly SendMove[]> {
  const moves: SendMove[] = []
  const row = {
    id: 'o1',
    turn: 't1',
    integration: 'chat',
    op: BEGINNING,
    platformIds: [],
    group: null,
  } as never
  const sending = createSending({
    store: {
      turn: async () => ({ id: 't1', state: 'answered', reason: 'replied' }),
      send: async () => ({ id: 'o1', op: stored }),
      moveSends: async (given: readonly SendMove[]) => {
        moves.push(...given)
        return given.map(() => 'moved')
      },
    },
    clock: { now: () => 0, after: () => () => undefined },
    links: { get: () => ({ adapter: {} }) },
    storeRetry: { persist: (_what: string, write: () => unknown) => write() },
    waiters: { lookAgain: () => undefined, settled: () => undefined },
    closedBy: () => null,
    refusedNow: async () => null,
    streams: { written: () => undefined },
  } as never)
  await sending.sendOne({ lane: 'l', token: 1, nextDueAt: null }, row)
  return moves
}

it('[I35.b1] a beginning whose final text came since it was taken is sent whole, and not given up', async () => {
  expect(await movesOf(WHOLE)).toMatchObject([{ id: 'o1', to: 'queued' }])
  expect(await movesOf(BEGINNING)).toMatchObject([{ id: 'o1', to: 'failed', reason: 'given_up' }])
})
