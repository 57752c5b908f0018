// Small manners of a chat: the reaction that says "the agent has it", and pairing approved at the desk.
import { expect, it } from 'vitest'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

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

  it.each([
    ['off', [undefined, undefined]],
    ['first', ['m-1', undefined]],
    ['all', ['m-1', 'm-1']],
  ] as const)(
    '[S3.chat-manners] reply_to_mode %s and the chunk limit shape a long reply',
    async (mode, quoted) => {
      const river = await open({
        integrations: [testIntegration('chat', { replyToMode: mode, textChunkLimit: 10 })],
        agents: [testAgent('demo', ['chat'])],
      })
      river.agent.script = () => undefined
      await river.person('anna').says('hello', { messageId: 'm-1' })
      await river.settle()
      const [delivered] = river.agent.deliveries
      const who = caller({ turn: delivered?.turn ?? null, session: delivered?.session ?? null })
      const said = { chatId: delivered?.chatId ?? '', text: 'one two 3 four five', replyTo: 'm-1' }
      await outcomeOf(river, river.tools().reply(who, said))
      const sends = await river.store().sends({ limit: 5, oldestFirst: true })
      expect(sends.map(({ op }) => (op?.kind === 'text' ? op.text : ''))).toEqual(['one two 3', 'four five'])
      expect(sends.map(({ op }) => (op?.kind === 'text' ? op.replyTo : ''))).toEqual(quoted)
    },
  )
})
