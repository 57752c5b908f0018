// Looking up an approval. A repeated call does not join a verdict that is being passed on. An approval that expires
// while its asker dies is settled later.
import { expect, it } from 'vitest'
import type { ApprovalRow, Hint } from '../../contract/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { testSettings } from '../../testing/test-settings.ts'
import { type ApprovalsDeps, createApprovals } from './approvals.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

const ROW: ApprovalRow = {
  seq: 1,
  id: 'abcde',
  hostId: null,
  agent: 'demo',
  session: 's',
  turn: null,
  ask: { toolName: 't', description: 'd', input: 'i' },
  inputHash: 'h',
  expiresAt: Number.MAX_SAFE_INTEGER,
  state: 'pending',
  behavior: null,
  cause: null,
  decidedBy: null,
  decidedVia: null,
  decidedAt: null,
  createdAt: 0,
  asker: null,
}

it('[I3.verdict-two-at-once] a look that began before the verdict does not swallow it', async () => {
  const clock = createTestClock()
  let row = ROW
  const looks: (() => void)[] = []
  const told: string[] = []
  const listeners: ((hint: Hint, from: null) => void)[] = []
  const hint = (one: Hint) => {
    for (const listen of listeners) listen(one, null)
  }
  const store = {
    shared: false,
    owner: 'here/1',
    onHint: (listen: (hint: Hint, from: null) => void) => listeners.push(listen),
    // Returns the state at the time of the call, however late it resolves.
    approval() {
      const seen = row
      return new Promise((resolve) => looks.push(() => resolve(seen)))
    },
    async settleApproval(_id: string, to: ApprovalRow['state']) {
      row = { ...row, state: to }
      return row
    },
    sends: async () => [],
  }
  const connector = {
    holdsDecisions: true,
    async verdict() {
      told.push(row.behavior ?? '')
      return 'relayed'
    },
  }
  const settings = testSettings({})
  createApprovals({
    store,
    clock,
    random: createTestRandom('race'),
    log: quiet,
    settings: () => settings,
    roster: { get: () => ({ attached: true, connector }) },
    cluster: { isAlive: () => false, isElsewhere: () => false },
    links: { get: () => undefined },
    grants: { has: () => false, senders: () => [] },
    watched: () => false,
  } as unknown as ApprovalsDeps)
  hint({ kind: 'approval', id: 'abcde' }) // The question is asked.
  await clock.settle()
  row = { ...ROW, state: 'decided', behavior: 'allow', cause: 'person', decidedBy: 'anna', decidedAt: 1 }
  hint({ kind: 'approval', id: 'abcde' }) // The question is decided.
  for (let turn = 0; turn < 5; turn++) {
    for (const answer of looks.splice(0)) answer()
    await clock.settle()
  }
  expect(told).toEqual(['allow'])
  expect(row.state).toBe('relayed')
})

it('[I6.expired-orphan] an approval that expires as its asker dies is told as expired by another node, in the commit that lets it', async () => {
  const clock = createTestClock()
  const diedAt = clock.now()
  let row: ApprovalRow = { ...ROW, asker: 'there/1', expiresAt: diedAt + 3_000 }
  const enqueued: unknown[] = []
  const prompt = {
    ...{ id: 'o_1', integration: 'chat', conversation: 'anna', thread: null, platform: 'test' },
    ...{ op: { kind: 'prompt' }, platformIds: ['7'] },
  }
  const store = {
    shared: true,
    owner: 'here/1',
    onHint: () => undefined,
    approval: async () => row,
    approvals: async ({ states }: { states: readonly string[] }) => (states.includes(row.state) ? [row] : []),
    async decide(_decide: unknown, words: readonly unknown[]) {
      enqueued.push(...words)
      row = { ...row, state: 'expired', behavior: 'deny', cause: 'expired', decidedAt: clock.now() }
      return { won: true, approval: row }
    },
    sends: async () => [prompt],
  }
  const settings = testSettings({})
  const approvals = createApprovals({
    store,
    clock,
    random: createTestRandom('orphan'),
    log: quiet,
    settings: () => settings,
    roster: { get: () => ({ attached: false, connector: { holdsDecisions: true } }) },
    cluster: { isAlive: () => clock.now() - diedAt <= 10_000, isElsewhere: () => false },
    links: {
      get: () => ({
        adapter: {
          abilities: { edits: true, textLimit: { size: 4_096, unit: 'code-points' } },
        },
      }),
    },
    grants: { has: () => false, senders: () => [] },
    watched: () => false,
  } as unknown as ApprovalsDeps)
  await approvals.start()
  await clock.advance(2_000)
  expect([row.state, enqueued]).toEqual(['pending', []])
  await clock.advance(8_000)
  expect(row.state).toBe('expired')
  expect(enqueued).toMatchObject([{ op: { kind: 'edit', on: '7' }, idempotencyKey: 'retire:abcde:o_1' }])
  await clock.advance(60_000)
  expect(enqueued).toHaveLength(1)
  approvals.stop()
})
