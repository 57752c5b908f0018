// How approvals end, said where it is true: in the commit that ends them, and in the words of what ended them.
import { expect, it } from 'vitest'
import type { Delivery } from '../../src/contract/index.ts'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver, type River } from './river.ts'

const RUN = { toolName: 'Bash', description: 'Run the tests', input: 'npm test -- --all' }
const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })

/** Anna's message made the agent ask; the id of the approval comes back. */
async function asking(open: OpenRiver): Promise<{ river: River; id: string }> {
  const river = await open({ integrations: [CHAT] })
  river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
  await river.person('anna').says('go')
  await river.settle()
  const [approval] = await river.desk().approvals(null, 10)
  return { river, id: approval?.id ?? '' }
}

const state = async (river: River, id: string) => (await river.store().approval(id))?.state

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
    expect(await river.desk().decide(id, 'allow', 'operator', 'cli')).toMatchObject({
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
    expect(river.platform.shown('anna')).toEqual([`Bash (${id}): allowed by anna`])
    const again = await river.agent.ask(river.agent.deliveries[0] as Delivery, { ...RUN, input: 'more' })
    river.storeAway('decide', 2)
    await river.sleep(601_000)
    await river.pass(5_000)
    expect(await state(river, again.id ?? '')).toBe('expired')
    expect(river.platform.shown('anna').at(-1)).toBe(`Bash (${again.id}): expired, denied`)
    const third = await river.agent.ask(river.agent.deliveries[0] as Delivery, { ...RUN, input: 'most' })
    await river.settle()
    river.storeAway('settleApproval', 2)
    await river.person('anna').says('/stop')
    await river.pass(5_000)
    expect(river.platform.shown('anna')).toContain(`Bash (${third.id}): no longer asked`)
  })
})
