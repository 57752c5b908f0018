// A verdict that is told while an earlier look at its approval is still under way: it is looked at again, not joined.
import { expect, it } from 'vitest'
import type { ApprovalRow, Hint } from '../../contract/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { testSettings } from '../../testing/test-settings.ts'
import { type ApprovalsDeps, createApprovals } from './approvals.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet }

const ROW: ApprovalRow = {
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
  let hint: (hint: Hint) => void = () => undefined
  const store = {
    shared: false,
    owner: 'here/1',
    onHint: (listen: (hint: Hint, from: null) => void) => {
      hint = (one) => listen(one, null)
    },
    // Answers with what was true when it was asked, whenever it gets round to it.
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
    cluster: { isAlive: () => false },
    links: { get: () => undefined },
    grants: { has: () => false, senders: () => [] },
    watched: () => false,
  } as unknown as ApprovalsDeps)
  hint({ kind: 'approval', id: 'abcde' }) // it was asked
  await clock.settle()
  row = { ...ROW, state: 'decided', behavior: 'allow', cause: 'person', decidedBy: 'anna', decidedAt: 1 }
  hint({ kind: 'approval', id: 'abcde' }) // it was decided
  for (let turn = 0; turn < 5; turn++) {
    for (const answer of looks.splice(0)) answer()
    await clock.settle()
  }
  expect(told).toEqual(['allow'])
  expect(row.state).toBe('relayed')
})
