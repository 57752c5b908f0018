// A stop in the middle of a hand-over: it is waited for and written down, nothing new begins, and what has to be left behind
// is offered again as a marked repeat.
import { expect, it } from 'vitest'
import type { Redelivery } from '../../src/contract/index.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const WAIT: Redelivery = { handed: 'wait', seen: 'wait', afterTimeout: false }
const CONFIGURED = { integrations: [testIntegration('chat')], agents: [testAgent('demo', ['chat'])] }

describeRiver('a stop during a hand-over', (open) => {
  it('[I14.stop-waits] waits for the agent’s word, writes it down and begins nothing new', async () => {
    const river = await open({ ...CONFIGURED, agent: { redelivery: WAIT, window: 3 } })
    const taken: (() => void)[] = []
    river.agent.script = () => new Promise<void>((resolve) => taken.push(resolve))
    await river.person('anna').says('one')
    await river.settle()
    await river.person('anna').says('two')
    await river.settle()
    expect(river.agent.texts()).toEqual(['one'])
    const restarting = river.restartCleanly()
    await Promise.resolve()
    taken[0]?.()
    river.agent.script = () => undefined
    await restarting
    await river.pass(5_000)
    // What was taken is waited for, not offered again; what had not begun is handed over by the next life.
    expect(river.agent.texts()).toEqual(['one', 'two'])
    const [first, second] = river.agent.deliveries
    expect(second?.repeat).toBe(false)
    if (first && second) {
      await river.agent.answer(first, 'first')
      await river.agent.answer(second, 'second')
    }
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['first', 'second'])
  })

  it('[I14.stop-repeat-marked] what is not taken in time is left behind, and offered again as a marked repeat', async () => {
    const river = await open({ ...CONFIGURED, agent: { redelivery: WAIT } })
    river.agent.script = () => new Promise<void>(() => undefined)
    await river.person('anna').says('one')
    await river.settle()
    const before = river.now()
    const restarting = river.restartCleanly()
    river.agent.script = (delivery, agent) => void agent.answer(delivery, 'answered')
    await restarting
    expect(river.now() - before).toBeLessThanOrEqual(15_000)
    await river.pass(15_000)
    expect(river.agent.deliveries.map(({ text, repeat }) => [text, repeat])).toEqual([
      ['one', false],
      ['one', true],
    ])
    expect(river.platform.texts('anna')).toEqual(['answered'])
  })
})
