// The door in: what is stored beside the events of a platform, and when nothing is.
import { expect, it } from 'vitest'
import type { Store } from '../../contract/index.ts'
import { createTestClock, createTestRandom, testIntegration, testSettings } from '../../testing/index.ts'
import { createRecordingLog } from '../../testing/recording-log.ts'
import { createIntake, type Fence } from './intake.ts'

function opened() {
  const stored: unknown[] = []
  const unused = async () => {
    throw new Error('nobody asks for this')
  }
  const settings = testSettings({ integrations: [testIntegration('tg')] })
  const intake = createIntake({
    store: {
      async receive(_items: unknown, cursor: unknown) {
        stored.push(cursor)
        return []
      },
      approval: unused,
      sends: unused,
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
    keepsHistory: () => false,
    tellsDeletions: () => false,
    tellsLimits: () => false,
    textLimit: () => ({ size: 1, unit: 'utf-16' }),
    failedLater: { words: async () => [], noticed: () => undefined },
    onStop: () => undefined,
    onWithdrawn: () => undefined,
    onAsked: () => undefined,
  })
  return { intake, stored }
}

it('[I6.fenced-position] a position is stored under the lease, or not at all once that is lost', async () => {
  const { intake, stored } = opened()
  let held: Fence | null = { name: 'link:tg', token: 3 }
  const door = intake.of('tg', () => held)
  await door.receive([], { cursor: '7' })
  held = null
  await expect(door.receive([], { cursor: '8' })).rejects.toMatchObject({ code: 'conflict' })
  // What comes without a position needs no lease.
  await door.receive([])
  expect(stored).toEqual([{ integration: 'tg', value: '7', fence: { name: 'link:tg', token: 3 } }, undefined])
  // An embedded database has one daemon, and no lease.
  await intake.of('tg').receive([], { cursor: '9' })
  expect(stored.at(-1)).toEqual({ integration: 'tg', value: '9' })
})
