// Where an approver is asked on a platform whose senders are no chats: where they spoke lately, and else nowhere.
import { expect, it } from 'vitest'
import { asking, CHAT, RUN, state } from './asking.ts'
import { describeRiver } from './river.ts'

const NO_CHATS = { platform: { abilities: { senderIdIsNotAChat: true } } }

describeRiver('approvers without a chat of their own', (open) => {
  it('[I14.chorus-approver] are asked in the conversations where they spoke within 24 h, whoever began the turn', async () => {
    const river = await open({ integrations: [CHAT], ...NO_CHATS })
    await river.person('room-1', 'anna').says('hello')
    await river.settle()
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('room-2', 'bob').says('go')
    await river.settle()
    const prompts = river.platform.arrived.filter(({ op }) => op.kind === 'prompt')
    expect(prompts.map(({ to }) => to.conversation)).toEqual(['room-1'])
  })

  it('[I14.chorus-approver] where none spoke lately nothing is asked, and the call is denied at once with the reason', async () => {
    const river = await open({ integrations: [CHAT], ...NO_CHATS, agent: { holdsDecisions: true } })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    await river.person('room-2', 'bob').says('go')
    await river.settle()
    const [approval] = await river.operator().approvals(null, 10)
    expect(river.platform.arrived.filter(({ op }) => op.kind === 'prompt')).toEqual([])
    expect(river.agent.verdicts).toMatchObject([{ behavior: 'deny', decidedBy: expect.any(String) }])
    expect(await state(river, approval?.id ?? '')).toBe('relayed')
  })

  it('where senders are chats they are asked there as before', async () => {
    const { river } = await asking(open)
    expect(
      river.platform.arrived.filter(({ op }) => op.kind === 'prompt').map(({ to }) => to.conversation),
    ).toEqual(['anna'])
  })

  it('[I15.asked-once] whose direct chat has another name than they have is asked once: there, or in the chat of that name', async () => {
    const room = { requireMention: false, allowFrom: ['*'], origin: 'room' }
    const chat = { ...CHAT, access: { ...CHAT.access, groups: { room } } }
    const river = await open({ integrations: [chat] })
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    const asked = (from = 0) => {
      const prompts = river.platform.arrived.filter(({ op }) => op.kind === 'prompt').slice(from)
      return prompts.map(({ to }) => to.conversation).toSorted()
    }
    await river.person('direct-of-anna', 'anna').says('go')
    await river.settle()
    expect(asked()).toEqual(['direct-of-anna'])
    // Another's request goes to her by her name, and one in a group to both places.
    await river.person('direct-of-bob', 'bob').says('go')
    await river.settle()
    expect(asked(1)).toEqual(['anna'])
    await river.person('room', 'anna', { chat: 'group' }).says('go')
    await river.settle()
    expect(asked(2)).toEqual(['anna', 'room'])
  })
})
