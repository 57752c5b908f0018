// Small manners of a chat: the reaction that says "the agent has it", and pairing approved at the desk.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const DEMO = {
  integrations: [testIntegration('chat', { access: { ...OPEN, approvers: ['anna'] }, ackReaction: '👀' })],
  agents: [testAgent('demo', ['chat'], { connector: { type: 'demo', options: {} } })],
}

describeRiver('manners', (open) => {
  it('[S2.ack-reaction] the sender sees a reaction only once the agent has the message, and one', async () => {
    const river = await open({
      ...DEMO,
      agents: [testAgent('demo', ['chat'], { connector: { type: 'later', options: {} } })],
    })
    await river.person('anna').says('hello', { messageId: 'm-1' })
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([])
    await river.configure(DEMO)
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['👀', 'You said: hello'])
    const reactions = (await river.store().sends({ limit: 10 })).filter((send) => send.op?.kind === 'react')
    expect(reactions).toMatchObject([{ op: { kind: 'react', on: 'm-1', emoji: '👀' }, state: 'sent' }])
  })
})
