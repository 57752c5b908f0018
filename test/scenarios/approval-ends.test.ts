// How approvals end, said where it is true: in the commit that ends them, and in the words of what ended them.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import type { SendFault } from '../../src/testing/scripted/scripted-platform.ts'
import { asking, CHAT, headlines, RUN, state } from './asking.ts'
import { describeRiver } from './river.ts'

describeRiver('the ends of approvals', (open) => {
  it('[S10.already-answered] a verdict that loses to the time is told so, also between its look and its commit', async () => {
    const { river, id } = await asking(open)
    const expired = { id, behavior: 'deny', cause: 'expired', by: 'switchboard', via: 'switchboard' } as const
    const [, said] = await Promise.all([
      river.store().decide(expired),
      river.person('anna').says(`yes ${id}`),
    ])
    await river.settle()
    expect(said.answer).toBe(`${id}: expired`)
    expect(river.platform.texts('anna').at(-1)).toBe(`${id}: expired`)
    expect(await river.operator().decide(id, 'allow', 'operator', 'cli')).toMatchObject({
      won: false,
      approval: { state: 'expired', cause: 'expired' },
    })
  })

  it('[S10.prompts-edited] the end is said in its own commit, which is tried until the store is back', async () => {
    const { river, id } = await asking(open)
    river.storeAway('enqueue', 1_000)
    river.storeAway('settleApproval', 2)
    await river.person('anna').says(`yes ${id}`)
    await river.pass(5_000)
    expect(await state(river, id)).toBe('relayed')
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): allowed by anna`])
    const again = await river.agent.ask(river.agent.deliveries[0] as Delivery, { ...RUN, input: 'more' })
    river.storeAway('decide', 2)
    await river.sleep(601_000)
    await river.pass(5_000)
    expect(await state(river, again.id ?? '')).toBe('expired')
    expect(headlines(river.platform.shown('anna')).at(-1)).toBe(`Bash (${again.id}): expired, denied`)
    const third = await river.agent.ask(river.agent.deliveries[0] as Delivery, { ...RUN, input: 'most' })
    await river.settle()
    river.storeAway('settleApproval', 2)
    await river.person('anna').says('/stop')
    await river.pass(5_000)
    expect(headlines(river.platform.shown('anna'))).toContain(`Bash (${third.id}): no longer asked`)
  })

  it('[I35.left-dead-prompt] a question that waited until it was over is not asked any more, and its row says so', async () => {
    const river = await open({ integrations: [CHAT] })
    river.agent.script = async (delivery, agent) => {
      river.platform.failNext(Array<SendFault>(4).fill({ kind: 'unavailable' }), 'anna')
      await agent.ask(delivery, RUN)
    }
    await river.person('anna').says('go')
    await river.settle()
    const [approval] = await river.operator().approvals(null, 10)
    await river.operator().decide(approval?.id ?? '', 'allow', 'operator', 'cli')
    await river.pass(60_000)
    expect(river.platform.shown('anna').join()).not.toContain('npm test')
    const prompt = (await river.operator().sends({ limit: 10 })).find(({ cause }) => cause === 'prompt')
    expect(prompt).toMatchObject({ state: 'failed', reason: 'given_up' })
    expect(prompt?.detail).toBe('the question is over (relayed), and is not asked')
    expect((await river.operator().doctor()).problems).toEqual([])
    expect(river.platform.shown('anna').filter((text) => text.startsWith('⚠️'))).toEqual([])
  })

  it('[I35.left-dead-prompt] a question that may have arrived is not asked again with dead buttons', async () => {
    const river = await open({ integrations: [CHAT] })
    river.agent.script = async (delivery, agent) => {
      river.platform.failNext([{ kind: 'unknown', arrived: true }], 'anna')
      await agent.ask(delivery, RUN)
    }
    await river.person('anna').says('go')
    await river.settle()
    const [approval] = await river.operator().approvals(null, 10)
    await river.operator().decide(approval?.id ?? '', 'deny', 'operator', 'cli')
    await river.pass(60 * 60_000)
    expect(river.platform.shown('anna').join().split('npm test').length - 1).toBe(1)
    const prompt = (await river.operator().sends({ limit: 10 })).find(({ cause }) => cause === 'prompt')
    expect(prompt).toMatchObject({ state: 'unknown', reason: 'given_up' })
    expect(prompt?.detail).toBe('the question is over (relayed), and is not asked again')
    expect((await river.operator().doctor()).problems).toEqual([])
  })

  it('[I16.ask-over] nobody is asked on behalf of a turn that is over, answered or stopped', async () => {
    const { river, id } = await asking(open)
    const first = river.agent.deliveries[0] as Delivery
    await river.person('anna').says('/stop')
    await river.pass(5_000)
    const again = { ...RUN, input: 'rm -rf /' }
    await expect(river.agent.ask(first, again)).rejects.toMatchObject({ code: 'conflict' })
    river.agent.script = async (delivery, agent) => void (await agent.answer(delivery, 'done'))
    await river.person('anna').says('go on')
    await river.settle()
    const second = river.agent.deliveries.at(-1) as Delivery
    await expect(river.agent.ask(second, again)).rejects.toMatchObject({ code: 'conflict' })
    expect((await river.operator().approvals(null, 10)).map((one) => one.id)).toEqual([id])
    expect(river.platform.texts('anna').join('\n')).not.toContain('rm -rf')
  })
})
