// Pushes of a server on their way through the adapter: cut, gated, and kept in order while the store is away.
import { describe, expect, it } from 'vitest'
import { type InboundMessage, SwitchboardError } from '../../contract/index.ts'
import {
  createFakeIntake,
  createRecordingLog,
  createTestClock,
  createTestRandom,
} from '../../testing/index.ts'
import { createArrivals } from './arrivals.ts'
import { CHANNELS, made, open, tick } from './fixtures/adapter-scene.ts'

describe('what a server pushes', () => {
  it('[S3.content-cut] is cut to the cap in code points, before anything else sees it', async () => {
    const { adapter, slack } = await open()
    const intake = createFakeIntake()
    await adapter.start(intake, null)
    slack.says('😀'.repeat(101))
    await tick()
    expect(intake.events).toMatchObject([{ kind: 'message', text: `${'😀'.repeat(100)}…` }])
    await adapter.stop()
  })

  it('[I14.key-threads] [I14.key-pairs] with an id that was used in another thread, or for other words, is another message', async () => {
    const { adapter, slack } = await open()
    const intake = createFakeIntake()
    await adapter.start(intake, null)
    const id = { chat_id: 'C1', message_id: '1' }
    slack.says('hi', { ...id, thread_id: 'a' })
    slack.says('hi', { ...id, thread_id: 'b' })
    slack.says('hi', id)
    slack.says('something else', id) // by a server that counts anew after each start
    slack.says('hi', { ...id, thread_id: 'a' })
    await tick()
    const keys = intake.events.map((event) => {
      const { conversation, messageId, editVersion } = event as InboundMessage
      return `${conversation} ${messageId} ${editVersion}`
    })
    expect(keys).toHaveLength(5)
    expect(new Set(keys).size).toBe(4)
    expect(keys[4]).toBe(keys[0])
    expect(intake.events.every((event) => event.messageId === '1')).toBe(true)
    await adapter.stop()
  })

  it('[I8.empty-content] without a text is a message all the same: its meta may say everything', async () => {
    const { adapter, slack } = await open()
    const intake = createFakeIntake()
    await adapter.start(intake, null)
    slack.says('', { chat_id: 'C1', file: 'plan.pdf' })
    await tick()
    expect(intake.events).toMatchObject([
      { kind: 'message', text: '(empty message)', meta: { file: 'plan.pdf' } },
    ])
    await adapter.stop()
  })

  it('waits in order while the store is away, and the server is held back when much waits', async () => {
    const { adapter, slack, clock } = await open()
    const intake = createFakeIntake()
    intake.failWith(new SwitchboardError('store_unavailable', 'away'))
    await adapter.start(intake, null)
    for (let n = 0; n < 12_000; n++) slack.says(`m${n}`)
    await tick()
    // 2,000 wait here and the rest at the server. None was dropped.
    expect(adapter.link?.state().detail).toBe('2000 messages wait for the store')
    intake.failWith(null)
    await clock.advance(10_000)
    for (let turn = 0; turn < 200; turn++) await tick()
    expect(intake.events).toHaveLength(12_000)
    expect(intake.events.map((event) => event.kind === 'message' && event.text)).toEqual(
      Array.from({ length: 12_000 }, (_, n) => `m${n}`),
    )
    await adapter.stop()
  })

  it.each([
    ['is lost', 0],
    ['comes back without the capability', 1],
  ])(
    '[I8.declared-by-its-connection] is taken as its own connection declared it when the server %s before it is let in',
    async (_, back) => {
      const { adapter, slack, clock } = await open()
      const intake = createFakeIntake()
      intake.failWith(new SwitchboardError('store_unavailable', 'away'))
      await adapter.start(intake, null)
      for (let n = 0; n < 3_000; n++) slack.says(`m${n}`)
      await tick()
      slack.down()
      if (back === 1) slack.up({ prefix: null })
      intake.failWith(null)
      await clock.advance(10_000)
      for (let turn = 0; turn < 100; turn++) await tick()
      expect(intake.events.map((event) => event.kind === 'message' && event.text)).toEqual(
        Array.from({ length: 3_000 }, (_, n) => `m${n}`),
      )
      slack.says('after')
      await tick()
      expect(intake.events.at(-1)).toMatchObject({ kind: 'barred', reason: 'gate_capability' })
      await adapter.stop()
    },
  )

  it('that waited is gated by the configuration in force when it is let in', async () => {
    const { adapter, slack, clock, configure } = await open()
    const intake = createFakeIntake()
    intake.failWith(new SwitchboardError('store_unavailable', 'away'))
    await adapter.start(intake, null)
    for (let n = 0; n < 2_001; n++) slack.says(`m${n}`)
    await tick()
    slack.down()
    configure(made({ ...CHANNELS, enabled: false }))
    intake.failWith(null)
    await clock.advance(10_000)
    for (let turn = 0; turn < 50; turn++) await tick()
    expect(intake.events.at(-1)).toMatchObject({ kind: 'barred', reason: 'gate_disabled' })
    await adapter.stop()
  })

  it('is held back at the server when few but large ones wait, meta and all; nothing is dropped', async () => {
    const { adapter, slack, clock } = await open(made({ ...CHANNELS, maxContentChars: 0 }))
    const intake = createFakeIntake()
    intake.failWith(new SwitchboardError('store_unavailable', 'away'))
    await adapter.start(intake, null)
    const meta = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, 'v'.repeat(16_000)]))
    for (let n = 0; n < 20; n++) slack.says(`m${n}`, meta)
    for (let n = 20; n < 25; n++) slack.says(`m${n} ${'x'.repeat(6 * 1_048_576)}`)
    await tick()
    expect(adapter.link?.state().detail).toBe('5 messages wait for the store')
    intake.failWith(null)
    await clock.advance(10_000)
    for (let turn = 0; turn < 50; turn++) await tick()
    expect(intake.events.map((event) => event.kind === 'message' && event.text.slice(0, 3).trim())).toEqual(
      Array.from({ length: 25 }, (_, n) => `m${n}`),
    )
    await adapter.stop()
  })

  it('[I8.store-away] that could not be kept is counted and told when the store is back', async () => {
    const clock = createTestClock()
    const intake = createFakeIntake()
    intake.failWith(new SwitchboardError('store_unavailable', 'away'))
    const from = { conversation: 'all', chat: 'direct', sender: { id: 'slack' }, at: 0 } as const
    // The server is not paused.
    const arrivals = createArrivals({
      intake,
      clock,
      log: createRecordingLog(),
      random: createTestRandom('arrivals'),
      pressure: () => undefined,
      dropped: () => ({ ...from, kind: 'barred', reason: 'store_away', key: '' }),
    })
    const text = 'x'.repeat(6 * 1_048_576)
    for (let n = 0; n < 5; n++) arrivals.push({ ...from, kind: 'message', text })
    await tick()
    expect([arrivals.waiting(), arrivals.lost()]).toEqual([2, 3])
    intake.failWith(null)
    await clock.advance(10_000)
    for (let turn = 0; turn < 10; turn++) await tick()
    expect(intake.events.map((event) => (event.kind === 'barred' ? event.reason : event.kind))).toEqual([
      ...['message', 'message'],
      ...['store_away', 'store_away', 'store_away'],
    ])
    await arrivals.stop()
  })

  it('in a dialect that it did not declare is barred', async () => {
    const { adapter, slack } = await open()
    const intake = createFakeIntake()
    await adapter.start(intake, null)
    slack.pushes({ prefix: 'claude', params: { content: 'hi' } })
    await tick()
    expect(intake.events).toMatchObject([{ kind: 'barred', reason: 'gate_capability' }])
    await adapter.stop()
  })
})
