// Permission requests under the ids of hosts: the same one again is one question, another one under its id is another.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
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
    expect(await river.desk().approvals(null, 10)).toHaveLength(1)
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
})
