// Agents whose answer comes in the hand-over itself (http): what an end of ours cut is asked for again at once, and a stop
// reads what is being said to its end while other conversations go on.
import { expect, it } from 'vitest'
import type { Delivery, Redelivery } from '../../src/contract/index.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { wordsIn } from '../../src/words/index.ts'
import { describeRiver, type OpenRiver, type RiverOptions } from './river.ts'

const INLINE: Redelivery = { handed: 'wait', seen: 'wait', cut: 'again', afterTimeout: false }
const NEVER = new Promise<never>(() => undefined)
const STREAMING = { streaming: { by: 'edits' as const, everyMs: 1_000 } }

const bound = (id: string, conversations: readonly string[]) =>
  testAgent(id, [], {
    bindings: [{ plugin: 'test', instance: 'chat', allowedChannelServers: [], conversations }],
  })

const asked = async (open: OpenRiver, options: RiverOptions = {}) => {
  const river = await open({ ...options, agent: { redelivery: INLINE, ...options.agent } })
  river.agent.script = () => NEVER
  const { id } = await river.person('anna').says('hi')
  await river.settle()
  return { river, id: id ?? '', delivery: river.agent.deliveries[0] as Delivery }
}

describeRiver('an answer that is cut by an end of ours', (open) => {
  it('[I35.b12] is asked for again at once, marked, and the messages behind it follow', async () => {
    const { river, id } = await asked(open)
    await river.person('anna').says('and more')
    await river.restart()
    river.agent.script = (delivery) =>
      river.agent.answer(delivery, `re: ${delivery.text}`).then(() => undefined)
    await river.restart()
    await river.pass(30_000)
    const { deliveries } = river.agent
    expect(deliveries.map(({ text, repeat }) => [text, repeat]).slice(-2)).toEqual([
      ['hi', true],
      ['and more', false],
    ])
    expect(river.platform.texts('anna')).toEqual(['re: hi', 're: and more'])
    expect(await river.operator().turn(id)).toMatchObject({ state: 'answered' })
  })

  it('[I35.b12] also where something was shown of it: that says so, and becomes the answer', async () => {
    const { river, id, delivery } = await asked(open, { platform: STREAMING })
    await river.agent.partial(delivery, 'The weather is')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['The weather is'])
    // Evidence is the whole answer.
    expect(await river.store().turn(id)).toMatchObject({ state: 'handed' })
    await river.restart()
    await river.pass(25_000)
    expect(river.agent.deliveries.at(-1)).toMatchObject({ text: 'hi', repeat: true })
    expect(river.platform.shown('anna')).toEqual([wordsIn().notices.interrupted])
    const again = river.agent.deliveries.at(-1) as Delivery
    await river.agent.partial(again, 'The weather is fine, and')
    await river.pass(1_500)
    expect(river.platform.shown('anna')).toEqual(['The weather is fine, and'])
    await river.agent.answer(again, 'The weather is fine, and warm.')
    await river.settle()
    expect(river.platform.shown('anna')).toEqual(['The weather is fine, and warm.'])
  })

  it('[I35.b12] also where the agent gave a sign of life or asked meanwhile', async () => {
    const { river, delivery } = await asked(open)
    await river.agent.evidence(delivery, 'seen')
    await river.restart()
    await river.pass(25_000)
    expect(river.agent.deliveries).toMatchObject([{ repeat: false }, { repeat: true, turn: delivery.turn }])
  })

  it('[I35.b12] is waited for where the agent said that it comes later, and never asked for again', async () => {
    const { river, id, delivery } = await asked(open)
    await river.agent.evidence(delivery, 'seen', { working: true })
    await river.restart()
    await river.pass(60_000)
    expect(river.agent.deliveries).toHaveLength(1)
    await river.agent.answer(delivery, 'there it is')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['there it is'])
    expect(await river.operator().turn(id)).toMatchObject({ state: 'answered' })
  })

  it('[I35.b12] of a crash in the commit of the answer the turn is answered once', async () => {
    const { river } = await asked(open)
    river.agent.script = (one) => river.agent.answer(one, `re: ${one.text}`).then(() => undefined)
    river.crashAt('dispatch.before-settle')
    const first = river.agent.deliveries[0] as Delivery
    void river.agent.answer(first, 're: hi').catch(() => undefined)
    await river.settle()
    await river.restart()
    await river.pass(30_000)
    expect(river.platform.texts('anna')).toEqual(['re: hi'])
  })
})

describeRiver(
  'a stop while an answer is being said',
  (open) => {
    it('[I35.b12-drain] reads it to its end, while other conversations go on and no new answer is begun', async () => {
      const river = await open({
        perAgent: { demo: { redelivery: INLINE, finishMs: 300_000 } },
        agents: [bound('demo', ['anna', 'carl']), bound('quick', ['bert'])],
      })
      let finish = () => {}
      river.agent.script = async (delivery) => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        await river.agent.answer(delivery, 'at last')
      }
      await river.person('anna').says('hi')
      await river.settle()
      let done = false
      void river
        .gateway()
        .finish()
        .then(() => {
          done = true
        })
      await river.pass(120_000)
      expect(done).toBe(false)
      await river.person('carl').says('me too')
      await river.person('bert').says('hello')
      await river.pass(10_000)
      expect(river.platform.texts('bert')).toEqual(['re: hello'])
      expect(river.agent.texts()).toEqual(['hi'])
      finish()
      await river.settle()
      expect(done).toBe(true)
      expect(river.platform.texts('anna')).toEqual(['at last'])
      await river.restartCleanly()
      river.agent.script = (delivery) => river.agent.answer(delivery, 'yours').then(() => undefined)
      await river.pass(10_000)
      expect(river.agent.texts()).toEqual(['hi', 'me too'])
    })

    it('[I35.b12-drain] waits no longer than the agent may take', async () => {
      const { river } = await asked(open, { agent: { redelivery: INLINE, finishMs: 60_000 } })
      let done = false
      void river
        .gateway()
        .finish()
        .then(() => {
          done = true
        })
      await river.pass(59_000)
      expect(done).toBe(false)
      await river.pass(2_000)
      expect(done).toBe(true)
    })
  },
  ['sqlite', 'postgres'],
)

describeRiver(
  'a reload while an answer is being said',
  (open) => {
    const FINISHING = { redelivery: INLINE, finishMs: 300_000 }
    const configured = (version: number) => ({
      agents: [testAgent('demo', ['chat'], { connector: { type: 'test', options: { version } } })],
    })
    const saying = async () => {
      const river = await open({ ...configured(1), agent: FINISHING })
      let finish = () => {}
      river.agent.script = async (delivery) => {
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        await river.agent.answer(delivery, `re: ${delivery.text}`)
      }
      await river.person('anna').says('hi')
      await river.settle()
      return { river, finish: () => finish() }
    }

    it('[I35.left-reload] reads it to its end, and starts a changed agent anew then', async () => {
      const { river, finish } = await saying()
      await river.configure(configured(2))
      await river.pass(60_000)
      await river.person('bert').says('and me?')
      await river.pass(10_000)
      expect(river.agent.texts()).toEqual(['hi'])
      finish()
      river.agent.script = (delivery) => river.agent.answer(delivery, 'anew').then(() => undefined)
      await river.pass(5_000)
      expect(river.platform.texts('anna')).toEqual(['re: hi'])
      expect(river.platform.texts('bert')).toEqual(['anew'])
      expect(river.agent.deliveries.map(({ text, repeat }) => [text, repeat])).toEqual([
        ['hi', false],
        ['and me?', false],
      ])
    })

    it('[I35.left-reload] an agent that is changed back goes on at once', async () => {
      const { river, finish } = await saying()
      await river.configure(configured(2))
      await river.configure(configured(1))
      await river.person('bert').says('and me?')
      await river.pass(5_000)
      expect(river.agent.texts()).toEqual(['hi', 'and me?'])
      finish()
    })

    it('[I35.left-reload] waits no longer than the agent may take, and stops nobody else', async () => {
      const { river } = await saying()
      const other = testAgent('other', [], {
        bindings: [{ plugin: 'test', instance: 'chat', allowedChannelServers: [], conversations: ['carl'] }],
      })
      const agents = [...configured(2).agents, other]
      await river.configure({ agents })
      await river.person('carl').says('hello')
      await river.pass(5_000)
      expect(river.platform.texts('carl')).toEqual(['re: hello'])
      river.agent.script = (delivery) => river.agent.answer(delivery, 'anew').then(() => undefined)
      await river.pass(330_000)
      expect(river.agent.deliveries.map(({ text, repeat }) => [text, repeat])).toEqual([
        ['hi', false],
        ['hi', true],
      ])
      expect(river.platform.texts('anna')).toEqual(['anew'])
    })
  },
  ['sqlite', 'postgres'],
)
