// `handed` means that the turn is being written to the agent: what waits for a place, or for its file, is `queued`.
import { expect, it } from 'vitest'
import { describeRiver, type River } from './river.ts'

const states = async (river: River) =>
  (await river.store().turns({ oldestFirst: true, limit: 10 })).map(({ state }) => state)

describeRiver('handed', (open) => {
  it('[I14.handed-when-written] behind a hand-over that takes 15 s the next turns read queued', async () => {
    const river = await open({ agent: { window: 3 } })
    let taken: () => void = () => undefined
    river.agent.script = ({ text }) =>
      text === '1'
        ? new Promise<void>((resolve) => {
            taken = resolve
          })
        : undefined
    await river.person('anna').says('1')
    await river.settle()
    // Each of these is hinted at while the first is being written.
    for (const text of ['2', '3', '4']) await river.person('anna').says(text)
    await river.pass(15_000)
    expect(river.agent.texts()).toEqual(['1'])
    expect(await states(river)).toEqual(['handed', 'queued', 'queued', 'queued'])
    taken()
    await river.pass(10)
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    expect(await states(river)).toEqual(['handed', 'handed', 'handed', 'queued'])
  })

  it('[I14.handed-when-written] [I14.room-wakes] without room nothing is taken, and no more than there is room for', async () => {
    const river = await open({ agent: { window: 8, roomed: true } })
    river.agent.script = () => undefined
    for (const text of ['1', '2', '3']) await river.person('anna').says(text)
    await river.person('bert').says('4')
    await river.pass(15_000)
    expect(await states(river)).toEqual(['queued', 'queued', 'queued', 'queued'])
    river.agent.makeRoom(2)
    await river.settle()
    expect(river.agent.deliveries).toHaveLength(2)
    expect((await states(river)).filter((state) => state === 'handed')).toHaveLength(2)
    river.agent.makeRoom(2)
    await river.settle()
    expect(river.agent.texts().toSorted()).toEqual(['1', '2', '3', '4'])
    expect(river.agent.texts().filter((text) => text !== '4')).toEqual(['1', '2', '3'])
    expect(river.agent.deliveries.every(({ attempt, repeat }) => attempt === 1 && !repeat)).toBe(true)
  })

  it('[I14.file-before-handed] a turn whose file is fetched first reads queued, and nothing behind it goes first', async () => {
    const river = await open({ agent: { window: 8 } })
    river.agent.script = () => undefined
    let fetched: () => void = () => undefined
    river.agent.prepare = () =>
      new Promise<void>((resolve) => {
        fetched = resolve
      })
    const anna = river.person('anna')
    await anna.says('1')
    await anna.says('2', { attachments: [{ id: 'f', kind: 'image', ref: 'r' }] })
    await anna.says('3')
    await river.pass(5_000)
    expect(await states(river)).toEqual(['handed', 'queued', 'queued'])
    fetched()
    await river.pass(10)
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    expect(river.agent.deliveries[1]?.attachments).toHaveLength(1)
  })
})
