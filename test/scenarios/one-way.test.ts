// One-way hooks: nothing can be said back, so nothing is queued that must fail, and nobody is told anything through them.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River, type RiverOptions } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const HOOK = testIntegration('hook', {
  platform: 'webhook',
  scope: 'all',
  access: { ...OPEN, approvers: ['ci'] },
})
const TG = testIntegration('tg', {
  platform: 'telegram',
  scope: 'all',
  access: { ...OPEN, approvers: ['boss'] },
})
const ONE_WAY = { perIntegration: { hook: { abilities: { oneWay: true, unattended: true } } } }

describeRiver('one-way hooks', (open) => {
  const opened = async (over: RiverOptions = {}) =>
    open({
      integrations: [HOOK, TG],
      agents: [testAgent('demo', ['hook'], { messagingAllow: ['*'], notifyOn: 'completion' })],
      platform: ONE_WAY,
      ...over,
    })
  const ring = async (river: River, text = 'the build broke') => {
    await river.person('c1', 'ci', { integration: 'hook' }).says(text)
    await river.settle()
  }
  const through = async (river: River, integration: string) =>
    (await river.store().sends({ integration, limit: 20 })).length

  it('[I14.one-way-no-sends] the agent’s answer settles the turn without a row, and notify_on tells it elsewhere', async () => {
    const river = await opened()
    river.agent.script = async (delivery, agent) => void (await agent.answer(delivery, 'I restarted it'))
    await ring(river)
    const [turn] = await river.store().turns({ limit: 1 })
    expect(turn?.state).toBe('answered')
    expect(await through(river, 'hook')).toBe(0)
    expect(river.platform.texts('boss', 'tg')).toEqual(['I restarted it'])
  })

  it('[I14.one-way-no-sends] reply says why nothing was sent, and the turn is answered', async () => {
    const river = await opened()
    river.agent.script = () => undefined
    await ring(river)
    const [delivery] = river.agent.deliveries
    const who = caller({ turn: delivery?.turn ?? null, session: delivery?.session ?? null })
    const chatId = delivery?.chatId ?? ''
    const outcome = await outcomeOf(river, river.tools().reply(who, { chatId, text: 'done' }))
    expect(outcome).toMatchObject({ isError: true, structured: { ok: false, code: 'execution_failed' } })
    expect(outcome.text).toMatch(/"hook" is one-way.*counts as answered.*notify_user/)
    expect((await river.store().turn(delivery?.turn ?? ''))?.state).toBe('answered')
    const again = await outcomeOf(river, river.tools().reply(who, { chatId, text: 'done' }))
    expect(again.text).toMatch(/"hook" is one-way/)
    expect(await through(river, 'hook')).toBe(0)
    expect(river.platform.texts('boss', 'tg')).toEqual(['done'])
  })

  it('[I14.one-way-no-sends] what names it is refused with the reason, and a command gets no answer that fails', async () => {
    const river = await opened()
    await ring(river, '/help')
    const say = (channel: string) =>
      outcomeOf(river, river.tools().notifyUser(caller(), { message: 'due', channel }))
    expect(await say('webhook:hook')).toMatchObject({
      isError: true,
      text: expect.stringContaining('"hook" cannot send: it is one-way'),
    })
    const order = { platform: 'webhook', target: 'c1', body: 'hi' }
    expect(await outcomeOf(river, river.tools().sendMessage(caller(), order))).toMatchObject({
      isError: true,
      text: expect.stringContaining('"hook" cannot send: it is one-way'),
    })
    await expect(river.operator().order({ to: 'hook:c1', text: 'hi' }, 'op')).rejects.toThrow(/one-way/)
    expect(await through(river, 'hook')).toBe(0)
  })

  it('[I14.one-way-no-sends] it is no default: the next place where the owner is reached is, or nobody', async () => {
    const river = await opened({ integrations: [{ ...HOOK, default: true }, TG] })
    const notify = () => outcomeOf(river, river.tools().notifyUser(caller(), { message: 'due' }))
    expect((await notify()).text).toBe('Notification sent via telegram:tg')
    await river.configure({
      integrations: [{ ...HOOK, default: true }],
      agents: [testAgent('demo', ['hook'])],
    })
    expect(await notify()).toMatchObject({ isError: true, text: 'No notification channels configured' })
    expect(await through(river, 'hook')).toBe(0)
  })

  it('[I35.b20] what its host has and nobody waits for is no part of the window, is not offered again, and expires with the queue', async () => {
    const EXPIRY_MS = 5 * 60_000
    const river = await opened({
      agent: { window: 2, overlaps: true },
      tunables: { queueExpiryMs: EXPIRY_MS },
    })
    river.agent.script = () => undefined
    for (const text of ['one', 'two', 'three']) await ring(river, text)
    expect(river.agent.texts()).toEqual(['one', 'two'])
    const [first, second] = river.agent.deliveries
    expect(first?.oneWay).toBe(true)
    const stateOf = async (turn: string | undefined) => {
      const row = await river.store().turn(turn ?? '')
      return [row?.state, row?.reason]
    }
    await river.agent.accept({ kind: 'rests', turns: [first?.turn ?? ''] })
    await river.settle()
    expect(await stateOf(first?.turn)).toEqual(['handed', 'one_way'])
    expect(river.agent.texts(), 'it left its place to the next').toEqual(['one', 'two', 'three'])
    const again = { kind: 'evidence', turn: second?.turn ?? '', of: 'seen', rests: 'one_way' } as const
    await river.agent.accept(again)
    await river.settle()
    expect(await stateOf(second?.turn)).toEqual(['seen', 'one_way'])
    await river.restart()
    await river.settle()
    expect(river.agent.texts().slice(3), 'neither is offered again').toEqual(['three'])
    await river.pass(EXPIRY_MS + 90_000)
    expect(await stateOf(first?.turn)).toEqual(['expired', 'queue_expired'])
    expect(await stateOf(second?.turn), 'it was read').toEqual(['seen', 'one_way'])
    expect((await river.store().verify()).ok).toBe(true)
  })
})
