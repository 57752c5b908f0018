// Where a request of a host is shown that names no chat: to approvers directly, and in groups that were opened for it alone.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const team = (approvals?: true) => ({
  integrations: [
    testIntegration('chat', {
      access: {
        ...OPEN,
        dm: 'allowlist' as const,
        allowFrom: ['anna', 'bert'],
        approvers: ['anna'],
        groups: { g1: { requireMention: false, allowFrom: [], ...(approvals ? { approvals } : {}) } },
      },
    }),
  ],
  agents: [testAgent('demo', ['chat'])],
})
const ASK = { toolName: 'Bash', description: 'Run', input: 'curl -H "token: planted-4711"' }

const LIMITED = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] }, textChunkLimit: 100 })
const LONG = ['one', 'two', 'three'].map((word) => `${word} `.repeat(15).trim()).join('\n\n')

/** The second part of her answer is on its way for long. */
function hangOnSecond(river: River): void {
  let hung = false
  river.platform.failBy(({ op }) => {
    if (hung || op.kind !== 'text' || !op.text.includes('two')) return null
    hung = true
    return { kind: 'hang', arrived: true }
  })
}

describeRiver('requests that name no chat', (open) => {
  it('[I14.prompt-no-group] the group where the host spoke last hears nothing of it, unless it was opened for it', async () => {
    for (const opened of [undefined, true] as const) {
      const river = await open(team(opened))
      river.agent.script = () => undefined
      await river.person('g1', 'anna', { chat: 'group' }).says('what about the build?')
      await river.settle()
      const [inGroup] = river.agent.deliveries
      if (!inGroup) throw new Error('nothing was delivered')
      // The host takes the group's turn for the one it works on; it may be at work for anybody.
      await river.agent.guess(inGroup, ASK)
      await river.pass(5_000)
      expect(river.platform.shown('anna').join()).toContain('planted-4711')
      expect(river.platform.shown('g1').join().includes('planted-4711')).toBe(opened === true)
      // A connector that knows its turn asks where that came from.
      await river.agent.ask(inGroup, { ...ASK, input: 'npm test' })
      await river.pass(5_000)
      expect(river.platform.shown('g1').join()).toContain('npm test')
    }
  })

  it('[I14.prompt-no-group] a group that was opened for the requests of one agent hears nothing of another’s', async () => {
    const { integrations } = team(true)
    const others = testIntegration('second', { access: integrations[0]?.access ?? OPEN })
    const river = await open({
      integrations: [...team().integrations, others],
      agents: [testAgent('demo', ['chat']), testAgent('other', ['second'])],
    })
    river.agent.script = () => undefined
    await river.person('bert').says('go')
    await river.settle()
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('nothing was delivered')
    await river.agent.guess(delivery, ASK)
    await river.pass(5_000)
    const asked = (await river.operator().sends({ limit: 10 })).filter(({ cause }) => cause === 'prompt')
    expect(asked.map(({ to }) => to)).toEqual(['chat:anna'])
  })

  it('[I14.revoked-send] a prompt is not shown to somebody who was an approver when it was written', async () => {
    const river = await open(team())
    river.agent.script = () => undefined
    await river.person('bert').says('go')
    await river.settle()
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('nothing was delivered')
    // The platform is away while the prompt waits, and anna is no approver when it is back.
    river.platform.failNext([{ kind: 'unavailable' }], 'anna')
    await river.agent.ask(delivery, ASK)
    await river.settle()
    const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['anna', 'bert'], approvers: ['bert'] }
    await river.configure({ ...team(), integrations: [testIntegration('chat', { access })] })
    await river.pass(60_000)
    expect(river.platform.shown('anna').join()).not.toContain('planted-4711')
    const sends = await river.operator().sends({ limit: 10 })
    const prompt = sends.find((one) => one.to === 'chat:anna')
    expect(prompt).toMatchObject({ state: 'failed', reason: 'not_allowed' })
  })

  it('[I14.revoked-send] nor in a group that was taken out while it waited, where an approver had asked', async () => {
    const river = await open(team())
    river.agent.script = () => undefined
    await river.person('g1', 'anna', { chat: 'group' }).says('go')
    await river.settle()
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('nothing was delivered')
    river.platform.failNext([{ kind: 'unavailable' }], 'g1')
    await river.agent.ask(delivery, ASK)
    await river.settle()
    const [chat] = team().integrations
    if (!chat) throw new Error('no integration')
    const access = { ...chat.access, groups: {} }
    await river.configure({ ...team(), integrations: [{ ...chat, access }] })
    await river.pass(60_000)
    expect(river.platform.shown('g1').join()).not.toContain('planted-4711')
    const sends = await river.operator().sends({ limit: 10 })
    expect(sends.find((one) => one.to === 'chat:g1')).toMatchObject({
      state: 'failed',
      reason: 'not_allowed',
    })
  })

  it('[I35.left-amid-answer] a question to a person comes behind the parts of a long answer in the same direct chat', async () => {
    const river = await open({ integrations: [LIMITED] })
    river.agent.script = async (delivery, agent) => {
      if (delivery.text === 'go') await agent.ask(delivery, ASK)
      else await agent.answer(delivery, LONG)
    }
    // The second part is on its way when somebody else's message asks her.
    hangOnSecond(river)
    await river.person('dm-anna', 'anna').says('tell me')
    await river.settle()
    await river.person('bert').says('go')
    await river.pass(5_000)
    const kinds = () => river.platform.attempts.map(({ to, op }) => `${to.conversation} ${op.kind}`)
    expect(kinds().filter((one) => one.startsWith('anna'))).toEqual([])
    river.platform.release()
    await river.pass(5_000)
    expect(kinds().filter((one) => one.includes('anna'))).toEqual([
      'dm-anna text',
      'dm-anna text',
      'dm-anna text',
      'anna prompt',
    ])
  })

  it('[I35.left-amid-answer] and waits no longer than 20 s for an answer that does not go on', async () => {
    const river = await open({ integrations: [LIMITED] })
    river.agent.script = async (delivery, agent) => {
      if (delivery.text === 'go') await agent.ask(delivery, ASK)
      else await agent.answer(delivery, LONG)
    }
    hangOnSecond(river)
    await river.person('dm-anna', 'anna').says('tell me')
    await river.settle()
    await river.person('bert').says('go')
    await river.pass(25_000)
    expect(river.platform.attempts.at(-1)).toMatchObject({
      to: { conversation: 'anna' },
      op: { kind: 'prompt' },
    })
    river.platform.release()
  })
})
