// Intake: what is stored with the events of a platform, and when nothing is stored.
import { expect, it } from 'vitest'
import type { InboundVerdict, ReceiveItem, Store } from '../../contract/index.ts'
import { createTestClock, createTestRandom, testIntegration, testSettings } from '../../testing/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createIntake, type Fence } from './intake.ts'

/** An approval of the agent that is bound there. */
const PENDING = { id: 'abcde', agent: 'demo', state: 'pending', expiresAt: Number.POSITIVE_INFINITY }

function opened(over: { readonly isChannelServer?: boolean; readonly prompts?: readonly unknown[] } = {}) {
  const stored: unknown[] = []
  const kept: ReceiveItem[] = []
  const unused = async () => {
    throw new Error('nobody asks for this')
  }
  const settings = testSettings({ integrations: [testIntegration('tg')] })
  const intake = createIntake({
    store: {
      async receive(items: readonly ReceiveItem[], cursor: unknown) {
        stored.push(cursor)
        kept.push(...items)
        return items.map(() => ({ duplicate: false, turn: 't', state: 'refused', effects: [] }))
      },
      approval: over.prompts ? async () => PENDING : unused,
      sends: over.prompts ? async () => over.prompts : unused,
      takeoverAt: unused,
    } as unknown as Pick<Store, 'receive' | 'approval' | 'approvals' | 'sends' | 'takeoverAt'>,
    sharedLimits: null,
    clock: createTestClock(),
    log: createRecordingLog(),
    random: createTestRandom('intake'),
    settings: () => settings,
    grants: { senders: () => [] } as never,
    reach: () => ({ attached: [], stoppable: [] }),
    canEdit: () => false,
    textAsFile: () => false,
    isOneWay: () => false,
    isChannelServer: () => over.isChannelServer === true,
    keepsHistory: () => false,
    tellsDeletions: () => false,
    tellsLimits: () => false,
    promptLimit: () => ({ size: 1, unit: 'utf-16', markdown: 'written' }),
    failedLater: { words: async () => [], noticed: () => undefined },
    onStop: () => undefined,
    onWithdrawn: () => undefined,
    onAsked: () => undefined,
  })
  return { intake, stored, kept }
}

it('[I6.fenced-position] a position is stored under the lease, or not at all once that is lost', async () => {
  const { intake, stored } = opened()
  let held: Fence | null = { name: 'link:tg', token: 3 }
  const door = intake.of('tg', () => held)
  await door.receive([], { cursor: '7' })
  held = null
  await expect(door.receive([], { cursor: '8' })).rejects.toMatchObject({ code: 'conflict' })
  // Events without a position need no lease.
  await door.receive([])
  expect(stored).toEqual([{ integration: 'tg', value: '7', fence: { name: 'link:tg', token: 3 } }, undefined])
  // An embedded database has one daemon and no lease.
  await intake.of('tg').receive([], { cursor: '9' })
  expect(stored.at(-1)).toEqual({ integration: 'tg', value: '9' })
})

it('[S10.server-verdict] a verdict as data counts from a channel server alone: elsewhere people were asked', async () => {
  const verdict: InboundVerdict = {
    ...{ kind: 'verdict', approval: 'abcde', behavior: 'allow', conversation: 'C1', chat: 'direct', at: 0 },
    sender: { id: 'slack' },
  }
  const prompts = [{ id: 's_1', op: { kind: 'prompt' }, conversation: 'C1' }]
  const reasonFor = async (isChannelServer: boolean) => {
    const { intake, kept } = opened({ isChannelServer, prompts })
    await intake.of('tg').receive([verdict])
    return kept.map(({ reason }) => reason)
  }
  expect(await reasonFor(false)).toEqual(['not_asked'])
  expect(await reasonFor(true)).toEqual(['verdict'])
})

it('what was said in a direct chat is not kept as a word of a group', async () => {
  const { intake, kept } = opened()
  const said = {
    kind: 'message',
    messageId: 'm1',
    conversation: 'C1',
    chat: 'direct',
    text: 'hello',
  } as const
  await intake.of('tg').receive([{ ...said, at: 0, sender: { id: 'anna' } }])
  expect(kept).toMatchObject([{ turn: { body: { text: 'hello' } } }])
  expect(kept[0]?.turn.body).not.toHaveProperty('chat')
})
