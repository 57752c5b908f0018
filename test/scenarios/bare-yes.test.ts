// A bare "yes" while a question waits: a message for the agent, and a word to the approver.
import { expect, it } from 'vitest'
import { asking, state } from './asking.ts'
import { describeRiver } from './river.ts'

describeRiver('a bare yes', (open) => {
  it('[I18.bare-yes] a bare yes reaches the agent, and an approver for whom one question waits is told how it is decided', async () => {
    const { river, id } = await asking(open, { agent: { window: 20 } })
    river.agent.script = () => undefined
    const hints = () =>
      river.platform.texts('anna').filter((text) => text.startsWith('That went to the agent'))
    expect((await river.person('anna').says('Yes!')).state).toBe('queued')
    await river.settle()
    expect(river.agent.texts()).toEqual(['go', 'Yes!'])
    expect(hints()).toEqual([
      `That went to the agent as a message. To decide the waiting question, reply "yes ${id}" or "no ${id}".`,
    ])
    expect(await state(river, id)).toBe('pending')
    // Decided: the next one is a sentence and nothing else.
    await river.person('anna').says(`no ${id}`)
    await river.person('anna').says('yes')
    await river.person('anna').says('no way')
    await river.settle()
    expect(hints()).toHaveLength(1)
  })
})
