// An agent that is taken out of the configuration: what waits for it, or is with it, ends, and whoever sent it is told.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { headlines } from './asking.ts'
import { describeRiver } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })
const BOTH = { integrations: [CHAT], agents: [testAgent('demo', ['chat']), testAgent('other', [])] }
const WITHOUT = { integrations: [CHAT], agents: [testAgent('other', ['chat'])] }
const GIVEN_UP = '⚠️ Your message was not answered. The agent is no longer configured.'
const SILENT = () => undefined
const LOOK_MS = 10 * 60_000 + 1_000

describeRiver('agents that are removed', (open) => {
  it('[S2.agent-removed] [S2.given-up-notice] what is with one, and what waits for it, is given up at the second look', async () => {
    const river = await open(BOTH)
    river.agent.script = SILENT
    const anna = river.person('anna')
    const first = await anna.says('one')
    await river.settle()
    const second = await anna.says('two')
    await river.settle()
    await river.configure(WITHOUT)
    await river.sleep(LOOK_MS)
    const states = async () =>
      Promise.all([first, second].map(async ({ id }) => (await river.operator().turn(id ?? ''))?.state))
    expect(await states()).toEqual(['handed', 'queued'])
    await river.sleep(LOOK_MS)
    expect(await states()).toEqual(['failed', 'failed'])
    expect(await river.operator().turn(first.id ?? '')).toMatchObject({ reason: 'agent_removed' })
    expect(river.platform.texts('anna').filter((text) => text === GIVEN_UP)).toHaveLength(2)
    await anna.says('three')
    await river.sleep(LOOK_MS)
    expect(river.agentNamed('other').texts()).toEqual(['three'])
    expect(river.platform.texts('anna').filter((text) => text === GIVEN_UP)).toHaveLength(2)
  })

  it('[S2.agent-removed] one that comes back in time has lost nothing', async () => {
    const river = await open({ ...BOTH, agent: { attached: false } })
    const { id } = await river.person('anna').says('one')
    await river.configure(WITHOUT)
    await river.sleep(LOOK_MS)
    await river.configure(BOTH)
    await river.sleep(LOOK_MS)
    await river.sleep(LOOK_MS)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'queued' })
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['one'])
  })

  it('[S2.agent-removed] one that was removed while nothing ran is found after the start', async () => {
    const river = await open({ ...BOTH, agent: { attached: false } })
    const { id } = await river.person('anna').says('one')
    await river.restart(WITHOUT)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'queued' })
    await river.sleep(LOOK_MS)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'agent_removed' })
    expect(river.platform.texts('anna')).toContain(GIVEN_UP)
  })

  const asked = async (approvalExpiryMs: number) => {
    const river = await open({ ...BOTH, tunables: { approvalExpiryMs } })
    river.agent.script = async (delivery, agent) => {
      await agent.ask(delivery, { toolName: 'Bash', description: 'Run', input: 'npm' })
    }
    await river.person('anna').says('go')
    await river.settle()
    const [approval] = await river.operator().approvals(null, 10)
    const id = approval?.id ?? ''
    expect(river.platform.shown('anna').join()).toContain(id)
    await river.configure({ ...WITHOUT, tunables: { approvalExpiryMs } })
    return { river, id, state: async () => (await river.store().approval(id))?.state }
  }

  it('[S2.agent-removed] what one asked is no longer asked, and its prompt says so', async () => {
    const { river, id, state } = await asked(24 * 3_600_000)
    await river.sleep(LOOK_MS)
    expect(await state()).toBe('pending')
    await river.sleep(LOOK_MS)
    expect(await state()).toBe('withdrawn')
    expect(headlines(river.platform.shown('anna'))).toContain(`Bash (${id}): no longer asked`)
  })

  it('[S10.prompts-edited] a prompt of one that is gone is retired when it expires', async () => {
    const { river, id, state } = await asked(60_000)
    await river.pass(61_000)
    await river.pass(20_000)
    expect(await state()).toBe('expired')
    expect(headlines(river.platform.shown('anna'))).toContain(`Bash (${id}): expired, denied`)
  })
})
