// An agent whose places are all taken: the message waits, and its sender is told after 20 s, once.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../src/contract/index.ts'
import { wordsIn } from '../../src/words/index.ts'
import { describeRiver } from './river.ts'

const full = () =>
  new SwitchboardError('agent_absent', '2 processes run already (max_processes)', {
    retryAfterMs: 1_000,
    busy: true,
  })

describeRiver('an agent without room', (open) => {
  it('[I35.b27] whoever waits for a place is told after 20 s, once', async () => {
    const river = await open()
    river.agent.failNext(...Array.from({ length: 1_000 }, full))
    const { id } = await river.person('anna').says('hi')
    await river.pass(18_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(6_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.busy({ agent: 'demo' })])
    await river.pass(60_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.busy({ agent: 'demo' })])
    const turn = await river.store().turn(id ?? '')
    expect(['queued', 'handed']).toContain(turn?.state)
  })

  it('[I35.b27-reason] a turn that waits for a place says so by its reason, until it is handed over', async () => {
    const river = await open()
    river.agent.failNext(full(), full(), full())
    const id = (await river.person('anna').says('hi')).id ?? ''
    await river.pass(1_500)
    expect(await river.store().turn(id)).toMatchObject({ state: 'queued', reason: 'agent_busy', attempts: 0 })
    await river.pass(40_000)
    expect(await river.store().turn(id)).toMatchObject({ state: 'answered', reason: null })
  })

  it('[I35.b27] one that finds a place in time is told nothing', async () => {
    const river = await open()
    river.agent.failNext(full(), full(), full())
    await river.person('anna').says('hi')
    await river.pass(40_000)
    expect(river.platform.texts('anna')).toEqual(['re: hi'])
  })
})
