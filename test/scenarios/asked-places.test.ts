// What the desk tells of one approval: who was asked, where, and whether the question came there.
import { expect, it } from 'vitest'
import { asking, CHAT, RUN } from './asking.ts'
import { describeRiver, type River } from './river.ts'

const asked = async (river: River, id: string) =>
  (await river.operator().approvals(null, 10, { id }))[0]?.asked

const GROUP = { requireMention: false, allowFrom: ['*'], origin: 'room' }
const TWO = {
  ...CHAT,
  access: { ...CHAT.access, approvers: ['anna', 'carl'], groups: { room: GROUP } },
}

describeRiver('who was asked', (open) => {
  it('[S10.asked-where] each chat with its person, and how the question fared there', async () => {
    const river = await open({ integrations: [TWO] })
    river.agent.script = () => undefined
    await river.person('carl').says('hello')
    await river.settle()
    river.agent.script = async (delivery, agent) => void (await agent.ask(delivery, RUN))
    river.platform.failNext([{ kind: 'unknown', arrived: false }])
    await river.person('room', 'anna', { chat: 'group' }).says('go')
    await river.settle()
    const [row] = await river.operator().approvals(null, 10)
    expect(row).not.toHaveProperty('asked')
    const places = (await asked(river, row?.id ?? '')) ?? []
    expect(places.map(({ conversation, who }) => [conversation, who])).toEqual([
      ['room', 'anna'],
      ['anna', 'anna'],
      ['carl', 'carl'],
    ])
    const unsure = { state: 'sending', reason: 'outcome_open', detail: expect.any(String) }
    expect(places.filter(({ state }) => state !== 'sent')).toMatchObject([unsure])
    await river.pass(120_000)
    expect(((await asked(river, row?.id ?? '')) ?? []).map(({ state }) => state)).not.toContain('sending')
  })

  it('[S10.asked-where] the words that tell the verdict are no question', async () => {
    const { river, id } = await asking(open)
    await river.person('anna').says(`no ${id}`)
    await river.settle()
    expect(await asked(river, id)).toEqual([
      {
        integration: 'chat',
        conversation: 'anna',
        thread: null,
        who: 'anna',
        name: null,
        state: 'sent',
        reason: null,
        detail: null,
      },
    ])
  })
})
