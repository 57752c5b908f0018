// Which node reports that a verdict could not be passed on when the asking node is gone.
import { expect, it } from 'vitest'
import type { ApprovalRow } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { createVerdictRelay, type VerdictRelayDeps } from './verdict-relay.ts'

const DECIDED = {
  ...{ id: 'abcde', agent: 'demo', turn: 't_1', asker: 'there/1', state: 'decided' },
  ...{
    ask: { toolName: 't', description: 'd', input: 'i' },
    behavior: 'deny',
    cause: 'person',
    decidedBy: 'anna',
  },
} as unknown as ApprovalRow

interface Here {
  readonly owner?: string
  readonly attached: boolean
  readonly hears?: 'gone' | 'fetched' | 'relayed'
  readonly state?: ApprovalRow['state']
  /** The asking node lives. */
  readonly askerLives?: boolean
  /** A host with a dialog of its own. */
  readonly ownDialog?: true
}

/** One node of several. `there` is a node that has the agent and may leave. */
function opened({ owner = 'here/1', attached, hears = 'gone', state = 'decided', ...more }: Here) {
  const clock = createTestClock()
  let row: ApprovalRow = { ...DECIDED, state, decidedAt: clock.now() }
  const there = { lives: true }
  const relay = createVerdictRelay({
    clock,
    store: {
      shared: true,
      owner,
      onHint: () => undefined,
      approval: async () => row,
      turn: async () => null,
      async settleApproval(_id: string, state: ApprovalRow['state']) {
        row = { ...row, state }
        return row
      },
    },
    roster: {
      get: () => ({
        attached,
        connector: {
          holdsDecisions: more.ownDialog !== true,
          fetchesVerdicts: hears === 'fetched',
          verdict: async () => hears,
        },
      }),
    },
    cluster: { isAlive: () => more.askerLives === true, isElsewhere: () => there.lives },
    storeRetry: { persist: (_what: string, attempt: () => Promise<unknown>) => attempt() },
    timers: { set: () => undefined, cancel: () => undefined },
    words: async () => [],
    isAskedHere: () => true,
    say: async () => undefined,
  } as unknown as VerdictRelayDeps)
  const stateAfter = async (ms: number) => {
    await clock.advance(ms)
    await relay.settle('abcde')
    return row.state
  }
  return { there, stateAfter }
}

it('[I16.http-ask-any-node] a node without the agent leaves a verdict to one that has it, as long as that lives', async () => {
  const { there, stateAfter } = opened({ attached: false })
  expect(await stateAfter(0)).toBe('decided')
  expect(await stateAfter(60_000)).toBe('decided')
  there.lives = false
  expect(await stateAfter(0)).toBe('undeliverable')
})

it('[I16.http-ask-unfetched] a node that has the agent ends a verdict that is not fetched, whoever else has it', async () => {
  const { stateAfter } = opened({ attached: true, hears: 'fetched' })
  expect(await stateAfter(60_000)).toBe('decided')
  expect(await stateAfter(10 * 60_000)).toBe('undeliverable')
})

it('[S10.agent-gone] the node that asked leaves its verdict to nobody, also in a later life', async () => {
  const { stateAfter } = opened({ owner: 'there/2', attached: false })
  expect(await stateAfter(0)).toBe('undeliverable')
})

it.each([
  ['the node that asked, in a later life', { owner: 'there/2', attached: true }, 0, 'undeliverable'],
  ['another node, while the one that asked lives', { attached: true, askerLives: true }, 600_000, 'passing'],
  ['another node, at once', { attached: true }, 1_000, 'passing'],
  ['another node, when whoever it was is done', { attached: true }, 121_000, 'undeliverable'],
] as const)('[I35.b2] found while it was being passed on: %s', async (_, here, ms, state) => {
  const { stateAfter } = opened({ hears: 'relayed', state: 'passing', ...here })
  expect(await stateAfter(ms)).toBe(state)
})

it('[I35.b2] a host that outlived its daemon is told once more: it takes each of its requests once', async () => {
  const host = { owner: 'there/2', attached: true, ownDialog: true } as const
  const { stateAfter } = opened({ hears: 'relayed', state: 'passing', ...host })
  expect(await stateAfter(0)).toBe('relayed')
})
