// Answers that are shown while they are written: one message, one row, and the final text always wins.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { CHAT, RUN } from './asking.ts'
import { describeRiver, type OpenRiver, type River, type RiverOptions } from './river.ts'

const STREAMING = { streaming: { by: 'edits' as const, everyMs: 1_000 } }

/** Anna has asked, and her turn is in the agent's hands. */
async function asked(open: OpenRiver, options: RiverOptions = {}) {
  const river = await open({ ...options, platform: { ...STREAMING, ...options.platform } })
  river.agent.script = () => undefined
  await river.person('anna').says('tell me a story')
  await river.settle()
  return { river, delivery: latest(river) }
}

const latest = (river: River): Delivery => {
  const delivery = river.agent.deliveries.at(-1)
  if (!delivery) throw new Error('nothing was handed over')
  return delivery
}

const rows = async (river: River) =>
  (await river.operator().sends({ integration: 'chat', limit: 20 })).toReversed()

describeRiver('partial answers', (open) => {
  it('[I15.partial-edits] [I15.partial-seen] [I15.partial-pace] an answer grows in one message and ends as the final text', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Once'])
    const [begun] = await river.store().sends({ turn: delivery.turn, limit: 5 })
    expect(begun).toMatchObject({ state: 'sending', platformIds: [expect.any(String)] })
    expect(await river.store().turn(delivery.turn)).toMatchObject({ state: 'seen' })
    for (const text of ['Once upon', 'Once upon a', 'Once upon a time'])
      await river.agent.partial(delivery, text)
    await river.settle()
    expect(river.platform.revisions).toHaveLength(0)
    await river.pass(1_100)
    expect(river.platform.revisions).toHaveLength(1)
    expect(river.platform.shown('anna')).toEqual(['Once upon a time'])
    await river.agent.answer(delivery, 'Once upon a time there was a fox.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Once upon a time there was a fox.'])
    expect(await rows(river)).toMatchObject([
      { state: 'sent', text: 'Once upon a time there was a fox.', platform_ids: [expect.any(String)] },
    ])
    expect(await river.store().turn(delivery.turn)).toMatchObject({ state: 'answered' })
    await river.agent.partial(delivery, 'too late')
    await river.pass(5_000)
    expect(river.platform.shown('anna')).toEqual(['Once upon a time there was a fox.'])
  })

  it('[I15.partial-signals] [I15.partial-none] signals store nothing, and where nothing can be shown the answer comes whole', async () => {
    const { river, delivery } = await asked(open, { platform: { streaming: { by: 'signals' } } })
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    expect(await rows(river)).toEqual([])
    expect(river.platform.signals.filter(({ signal }) => signal.kind === 'partial')).toMatchObject([
      { signal: { text: 'Once', turn: delivery.turn } },
    ])
    await river.agent.answer(delivery, 'Once upon a time')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['Once upon a time'])
  })

  it('[I15.partial-none] a platform that can show none gets the answer whole', async () => {
    const river = await open()
    river.agent.script = async (delivery, agent) => {
      await agent.partial(delivery, 'Once')
      await agent.answer(delivery, 'Once upon a time')
    }
    await river.person('anna').says('tell me a story')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['Once upon a time'])
  })

  it('[I15.partial-pace] what fails or is too much is left out, and the final text comes all the same', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    river.platform.failNext([{ kind: 'busy', retryAfterMs: 30_000 }])
    await river.agent.partial(delivery, 'Once upon')
    await river.pass(5_000)
    expect(river.platform.revisions).toHaveLength(1)
    expect(river.platform.shown('anna')).toEqual(['Once'])
    await river.agent.answer(delivery, 'The end.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['The end.'])
  })

  it('[I15.partial-edits] an edit that is under way does not come after the final text', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    river.platform.failNext([{ kind: 'hang' }])
    await river.agent.partial(delivery, 'Once upon')
    await river.pass(1_100)
    await river.agent.answer(delivery, 'The end.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Once'])
    river.platform.release()
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['The end.'])
  })

  it('[I15.partial-crash] after a crash in mid-stream the answer ends in the message that showed its beginning', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.platform.shown('anna')).toEqual(['Once'])
    await river.agent.answer(latest(river), 'Once upon a time')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Once upon a time'])
    expect(await rows(river)).toMatchObject([{ state: 'sent', text: 'Once upon a time' }])
  })

  it('[I15.partial-crash] a beginning that was posted and not confirmed is found by its platform, and finished', async () => {
    const { river, delivery } = await asked(open, { platform: { reconcile: 'truth' } })
    river.crashAt('outbox.after-send')
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    await river.agent.answer(latest(river), 'Once upon a time')
    await river.pass(20_000)
    expect(river.platform.shown('anna')).toEqual(['Once upon a time'])
    expect(await rows(river)).toMatchObject([{ state: 'sent' }])
  })

  it('[I15.partial-crash] where the platform cannot tell, the answer is sent whole, and the beginning is known to be unknown', async () => {
    const { river, delivery } = await asked(open)
    river.crashAt('outbox.after-send')
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    await river.agent.answer(latest(river), 'Once upon a time')
    await river.pass(20_000)
    expect(river.platform.shown('anna')).toEqual(['Once', 'Once upon a time'])
    expect((await rows(river)).map(({ state }) => state)).toEqual(['unknown', 'sent'])
  })

  it('[I15.partial-unfinished] a turn that fails leaves what was shown, marked as incomplete', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.agent.partial(delivery, 'Once upon')
    await river.pass(1_100)
    await river.agent.fail(delivery, 'the model fell asleep')
    await river.pass(60_000)
    const [first, notice] = river.platform.shown('anna')
    expect(first).toMatch(/^Once upon .*incomplete/is)
    expect(notice).toMatch(/fell asleep/)
    expect((await rows(river)).map(({ state }) => state)).toEqual(['sent', 'sent'])
  })

  it('[I15.partial-unfinished] one that failed and is tried again at once does not say its beginning again', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.agent.fail(delivery, 'the model fell asleep')
    await river.settle()
    await river.operator().operateTurn(delivery.turn, 'retry', 'local')
    await river.settle()
    const again = latest(river)
    expect([again.turn, river.agent.deliveries.length]).toEqual([delivery.turn, 2])
    await river.agent.fail(again, 'it sleeps still')
    await river.settle()
    expect(river.platform.shown('anna').filter((text) => text.includes('Once'))).toHaveLength(1)
    await river.operator().operateTurn(delivery.turn, 'retry', 'local')
    await river.settle()
    await river.agent.partial(latest(river), 'Twice')
    await river.settle()
    await river.agent.answer(latest(river), 'Twice upon a time')
    await river.pass(10_000)
    expect(river.platform.shown('anna').filter((text) => text.includes('Twice'))).toEqual([
      'Twice upon a time',
    ])
  })

  it('[I15.partial-unfinished] what nobody finishes (a stop, also across a crash) is ended by whoever finds it', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    await river.restart()
    await river.settle()
    await river.person('anna').says('/stop')
    await river.pass(60_000)
    expect(river.platform.shown('anna')[0]).toMatch(/^Once .*incomplete/is)
    const [begun] = await river.store().sends({ turn: delivery.turn, oldestFirst: true, limit: 1 })
    expect(begun).toMatchObject({ state: 'sent' })
  })

  it('[I15.partial-gone] where the shown message is gone the final text is sent anew', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    river.platform.remove(river.platform.arrived[0]?.platformId ?? '')
    await river.agent.answer(delivery, 'Once upon a time')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['Once', 'Once upon a time'])
    expect(await rows(river)).toMatchObject([{ state: 'sent' }])
  })

  it('[I15.partial-long] a final text of several parts ends the shown message with the first, and the others follow', async () => {
    const { river, delivery } = await asked(open, { platform: { textLimit: 40 } })
    const text = 'one two three four five six seven eight nine ten eleven twelve thirteen'
    await river.agent.partial(delivery, text)
    await river.settle()
    await river.agent.answer(delivery, text)
    await river.settle()
    const shown = river.platform.shown('anna')
    expect(shown.length).toBeGreaterThan(1)
    expect(shown.join(' ').split(/\s+/).join(' ')).toBe(text)
  })

  it('[I15.partial-no-block] while an answer is being written a prompt of the same chat passes, and its verdict counts', async () => {
    const { river, delivery } = await asked(open, { integrations: [CHAT] })
    await river.agent.partial(delivery, 'Let me look')
    await river.settle()
    const { id } = await river.agent.ask(delivery, RUN)
    await river.settle()
    expect(river.platform.texts('anna')).toHaveLength(2)
    await river.person('anna').says(`yes ${id}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: id, behavior: 'allow' }])
    await river.agent.answer(delivery, 'Done.')
    await river.settle()
    expect(river.platform.shown('anna')[0]).toBe('Done.')
  })

  it('[I15.partial-edits] a final text that is shorter than what was shown takes its place', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Let me think about that for quite a while, because')
    await river.settle()
    await river.agent.answer(delivery, 'No.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['No.'])
    expect(await rows(river)).toMatchObject([{ state: 'sent', text: 'No.' }])
  })

  it('[I15.partial-refused] a platform that refuses the edits gets the final text as a message of its own, once', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    river.platform.failBy(({ shown }) => (shown === undefined ? null : { kind: 'rejected' }))
    for (let n = 0; n < 10; n++) {
      await river.agent.partial(delivery, `Once ${n}`)
      await river.pass(60_000)
    }
    // It is not asked for ever.
    expect(river.platform.revisions.length).toBeLessThanOrEqual(5)
    await river.agent.answer(delivery, 'The end.')
    await river.pass(60_000)
    expect(river.platform.shown('anna')).toEqual(['Once', 'The end.'])
    expect(await rows(river)).toMatchObject([{ state: 'sent', text: 'The end.' }])
  })

  it('[I15.partial-pace] a final text that meets a limit waits for it, and replaces what is shown once', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'Once')
    await river.settle()
    river.platform.failNext([
      { kind: 'busy', retryAfterMs: 30_000 },
      { kind: 'unknown', arrived: true },
    ])
    await river.agent.answer(delivery, 'The end.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['Once'])
    await river.pass(120_000)
    expect(river.platform.shown('anna')).toEqual(['The end.'])
    expect(await rows(river)).toMatchObject([{ state: 'sent' }])
  })

  it.each(['outbox.before-send', 'outbox.after-send', 'outbox.after-receipt'])(
    '[I15.partial-crash] a kill at %s of the final text leaves one message with the whole of it',
    async (point) => {
      const { river, delivery } = await asked(open)
      await river.agent.partial(delivery, 'Once')
      await river.settle()
      await river.agent.partial(delivery, 'Once upon')
      await river.pass(1_100)
      river.crashAt(point)
      await river.agent.answer(delivery, 'Once upon a time').catch(() => undefined)
      await river.settle()
      expect(river.dead()).toBe(true)
      await river.restart()
      await river.pass(60_000)
      expect(river.platform.shown('anna')).toEqual(['Once upon a time'])
      expect(await rows(river)).toMatchObject([{ state: 'sent', text: 'Once upon a time' }])
    },
  )

  it('[I15.partial-revoked] whose right to speak is taken back in mid-stream is shown no more of it', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.partial(delivery, 'The code')
    await river.settle()
    const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['bert'] }
    await river.configure({ integrations: [testIntegration('chat', { access })] })
    await river.agent.partial(delivery, 'The code is 4711')
    await river.pass(5_000)
    await river.agent.answer(delivery, 'The code is 4711, tell nobody.').catch(() => undefined)
    await river.pass(20_000)
    expect(river.platform.shown('anna').join()).not.toContain('4711')
  })

  it('[I15.partial-revoked] nor is it told by signals', async () => {
    const { river, delivery } = await asked(open, { platform: { streaming: { by: 'signals' } } })
    const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['bert'] }
    await river.configure({ integrations: [testIntegration('chat', { access })] })
    await river.agent.partial(delivery, 'The code is 4711')
    await river.pass(5_000)
    expect(JSON.stringify(river.platform.signals)).not.toContain('4711')
  })
})
