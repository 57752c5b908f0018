// Permission requests under the ids of hosts: the same one again is one question, another one under its id is another.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { headlines } from './asking.ts'
import { describeRiver } from './river.ts'

const CHAT = testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] } })
const ASK = { toolName: 'Bash', description: '', input: 'ls', requestId: 'abcde', host: 'session-1' }

describeRiver('requests of hosts', (open) => {
  const opened = async () => {
    const river = await open({ integrations: [CHAT], agent: { holdsDecisions: false } })
    river.agent.script = () => undefined
    await river.person('anna').says('go')
    await river.settle()
    const [delivery] = river.agent.deliveries
    if (!delivery) throw new Error('not delivered')
    return { river, delivery }
  }

  it('sent again because nobody confirmed it, a request is the same question', async () => {
    const { river, delivery } = await opened()
    expect(await river.agent.ask(delivery, ASK)).toEqual({ id: 'abcde' })
    expect(await river.agent.ask(delivery, ASK)).toEqual({ id: 'abcde' })
    await river.settle()
    expect(river.platform.texts('anna')).toHaveLength(1)
    expect(await river.operator().approvals(null, 10)).toHaveLength(1)
  })

  it('[S10.id-of-host] [S10.input-hash] another host or another input under the same id is another question, answered for itself', async () => {
    const { river, delivery } = await opened()
    const other = { ...ASK, input: 'rm -rf /', host: 'session-2' }
    await river.agent.ask(delivery, ASK)
    const second = (await river.agent.ask(delivery, other)).id ?? ''
    const third = (await river.agent.ask(delivery, { ...ASK, input: 'ls -a' })).id ?? ''
    expect(new Set(['abcde', second, third]).size).toBe(3)
    await river.settle()
    await river.person('anna').says(`yes ${second}`)
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: second, behavior: 'allow', ask: other }])
    expect((await river.store().approval('abcde'))?.state).toBe('pending')
    expect((await river.store().approval(third))?.state).toBe('pending')
  })

  it('[S10.verdict-waits] a verdict given while its host is away waits, says so, and is passed on when the host is back', async () => {
    const { river, delivery } = await opened()
    await river.agent.ask(delivery, ASK)
    await river.settle()
    river.agent.hears = 'gone'
    await river.person('anna').says('yes abcde')
    await river.settle()
    expect((await river.store().approval('abcde'))?.state).toBe('decided')
    expect(headlines(river.platform.shown('anna'))).toEqual([
      'Bash (abcde): decided (allowed by anna), waits for the agent to come back',
    ])
    await river.pass(10_000)
    river.agent.hears = 'relayed'
    await river.agent.waits('session-2', ['abcde'])
    await river.agent.waits('session-1', ['other'])
    await river.settle()
    expect(river.agent.verdicts, 'another host, another request').toEqual([])
    await river.agent.waits('session-1', ['abcde'])
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: 'abcde', behavior: 'allow' }])
    expect((await river.store().approval('abcde'))?.state).toBe('relayed')
    expect(headlines(river.platform.shown('anna'))).toEqual(['Bash (abcde): passed on (allowed by anna)'])
  })

  it('[S10.verdict-waits] decided before a crash, it waits for the host of the next life, however long nobody was there', async () => {
    const { river, delivery } = await opened()
    await river.agent.ask(delivery, ASK)
    await river.settle()
    river.agent.hears = 'gone'
    await river.person('anna').says('no abcde')
    await river.settle()
    await river.sleep(14_000)
    await river.restart()
    await river.pass(2_000)
    expect((await river.store().approval('abcde'))?.state).toBe('decided')
    river.agent.hears = 'relayed'
    await river.agent.waits('session-1', ['abcde'])
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: 'abcde', behavior: 'deny' }])
    expect(headlines(river.platform.shown('anna'))).toEqual(['Bash (abcde): passed on (denied by anna)'])
  })

  it('[S10.agent-gone] a host that does not come back within 15 s: decided, but the agent is gone', async () => {
    const { river, delivery } = await opened()
    await river.agent.ask(delivery, ASK)
    await river.settle()
    river.agent.hears = 'gone'
    await river.person('anna').says('yes abcde')
    await river.pass(14_000)
    expect((await river.store().approval('abcde'))?.state).toBe('decided')
    await river.pass(6_000)
    expect((await river.store().approval('abcde'))?.state).toBe('undeliverable')
    expect(headlines(river.platform.shown('anna'))).toEqual([
      'Bash (abcde): decided (allowed by anna), but the agent is gone',
    ])
  })

  it('[S10.verdict-waits] sent again because nobody confirmed it, a request that was answered meanwhile gets its answer', async () => {
    const { river, delivery } = await opened()
    await river.agent.ask(delivery, ASK)
    await river.settle()
    river.agent.hears = 'gone'
    await river.person('anna').says('yes abcde')
    await river.settle()
    river.agent.hears = 'relayed'
    expect(await river.agent.ask(delivery, ASK)).toEqual({ id: 'abcde' })
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: 'abcde', behavior: 'allow' }])
    expect(await river.operator().approvals(null, 10)).toMatchObject([{ id: 'abcde', state: 'relayed' }])
  })
})
