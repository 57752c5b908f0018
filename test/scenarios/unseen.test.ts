// Turns that were handed to a host and of which nothing shows that it saw them: nobody is left alone with them.
import { expect, it } from 'vitest'
import { AGAIN } from '../../src/testing/scripted/scripted-connector.ts'
import { describeRiver } from './river.ts'

const UNSEEN = { window: 8, redelivery: { ...AGAIN, unseenTold: true as const } }
const NOT_YET = /^demo has not picked up your message yet\./

describeRiver('unseen turns', (open) => {
  it('[I14.unseen-told] after unseen_notice the sender is told once, and the turn stays handed', async () => {
    const river = await open({ agent: UNSEEN })
    river.agent.script = () => undefined
    for (const text of ['1', '2']) await river.person('anna').says(text)
    await river.pass(119_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(2_000)
    expect(river.platform.texts('anna')).toEqual([expect.stringMatching(NOT_YET)])
    await river.pass(600_000)
    expect(river.platform.texts('anna')).toHaveLength(1)
    const states = (await river.store().turns({ limit: 5 })).map(({ state }) => state)
    expect(states).toEqual(['handed', 'handed'])
  })

  it('[I14.unseen-told] evidence in time is told to nobody, and a restart begins nothing anew', async () => {
    const river = await open({ agent: { ...UNSEEN, keeps: true } })
    river.agent.script = (delivery) =>
      delivery.text === 'seen' ? river.agent.evidence(delivery, 'seen').then(() => undefined) : undefined
    await river.person('anna').says('seen')
    await river.person('bert').says('unseen')
    await river.pass(100_000)
    await river.restartCleanly()
    await river.pass(40_000)
    expect(river.platform.texts('anna')).toEqual([])
    expect(river.platform.texts('bert')).toEqual([expect.stringMatching(NOT_YET)])
    await river.restartCleanly()
    await river.pass(300_000)
    expect(river.platform.texts('bert')).toHaveLength(1)
  })

  it('[I14.unseen-doctor] from then on doctor names the turn as a problem, with what is likely wrong', async () => {
    const river = await open({ agent: UNSEEN })
    river.agent.script = () => undefined
    await river.person('anna').says('hello')
    await river.pass(100_000)
    expect(await river.operator().doctor()).not.toHaveProperty('unseen')
    await river.pass(30_000)
    const report = await river.operator().doctor()
    expect(report).toMatchObject({
      ok: false,
      unseen: [
        {
          turn: river.agent.deliveries[0]?.turn,
          agent: 'demo',
          why: expect.stringContaining('never showed'),
        },
      ],
    })
    const [first] = river.agent.deliveries
    if (!first) throw new Error('nothing was handed over')
    await river.agent.answer(first, 'here')
    expect(await river.operator().doctor()).not.toHaveProperty('unseen')
  })
})
