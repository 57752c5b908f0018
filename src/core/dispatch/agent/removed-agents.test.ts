// Several nodes with different configurations: no turn ends while another node may still have its agent.
import { expect, it } from 'vitest'
import type { NodeRow, TurnRow } from '../../../contract/index.ts'
import { createRecordingLog, createTestClock, testSettings } from '../../../testing/index.ts'
import { keepEndingRemoved } from './removed-agents.ts'

const LOOK_MS = 10 * 60_000

it('a page of which nothing can be ended is left until the next look', async () => {
  const clock = createTestClock()
  const rows = Array.from({ length: 100 }, (_, at) => ({ id: `t${at}`, integration: 'chat' }) as TurnRow)
  let looks = 0
  const stop = keepEndingRemoved({
    store: {
      owner: 'one/1',
      async turns() {
        looks += 1
        if (looks > 10) throw new Error('it looks for ever')
        return rows
      },
    },
    giveUp: async () => false,
    clock,
    log: createRecordingLog(),
    settings: () => testSettings({ agents: ['other'] }),
    cluster: { nodes: () => [] },
    approvals: { endForRemovedAgents: async () => undefined },
  })
  await clock.advance(LOOK_MS)
  await clock.settle(500)
  expect(looks).toBe(1)
  stop()
})

it('[S2.agent-removed] a node with another configuration keeps what its agents may have', async () => {
  const clock = createTestClock()
  const ended: string[] = []
  const asked: unknown[] = []
  const node = (owner: string, digest: string, seenAt: number) => ({ owner, digest, seenAt }) as NodeRow
  let nodes: readonly NodeRow[] = []
  const row = { id: 't1', integration: 'chat', conversation: 'anna', thread: null } as TurnRow
  const stop = keepEndingRemoved({
    store: {
      owner: 'one/1',
      async turns(filter) {
        asked.push(filter.agent)
        return ended.length === 0 ? [row] : []
      },
    },
    async giveUp(turn) {
      ended.push(turn.id)
      return true
    },
    clock,
    log: createRecordingLog(),
    settings: () => testSettings({ agents: ['other'] }),
    cluster: { nodes: () => nodes },
    approvals: { endForRemovedAgents: async () => undefined },
  })
  const wait = async () => {
    await clock.advance(LOOK_MS)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  nodes = [node('one/1', 'test', clock.now()), node('two/1', 'an older one', clock.now() + LOOK_MS)]
  await wait()
  // The node is gone, but was seen a moment ago and may return.
  await wait()
  expect([ended, asked]).toEqual([[], []])
  await wait()
  expect(ended).toEqual(['t1'])
  expect(asked).toEqual([{ not: ['other'] }])
  stop()
})
