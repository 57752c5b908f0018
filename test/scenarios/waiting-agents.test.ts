// Agents that live on without us (Chorus): what they confirmed is never offered again, and silence is told.
import { expect, it } from 'vitest'
import type { Delivery, Redelivery } from '../../src/contract/index.ts'
import { SwitchboardError } from '../../src/contract/index.ts'
import { wordsIn } from '../../src/words/index.ts'
import { describeRiver } from './river.ts'

const WAIT: Redelivery = { handed: 'wait', seen: 'wait', afterTimeout: false }
const SILENT = () => undefined
const GIVEN_UP = '⚠️ Your message was not answered. The agent received it and never answered.'

describeRiver('agents that live on without us', (open) => {
  it('[S6.chorus-never-again] what was confirmed before a crash is not offered again, and its answer still counts', async () => {
    const river = await open({ agent: { redelivery: WAIT } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.texts()).toEqual(['hi'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'handed', reason: 'taken' })
    await river.agent.answer(river.agent.deliveries[0] as Delivery, 'late but good')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['late but good'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered' })
  })

  it('an answer that comes before the lane is ours again waits for it and settles its turn', async () => {
    const river = await open({ agent: { redelivery: WAIT } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    await river.restart()
    const answering = river.agent.answer(river.agent.deliveries[0] as Delivery, 'quick')
    await river.pass(20_000)
    await answering
    expect(river.platform.texts('anna')).toEqual(['quick'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered' })
  })

  it('[S2.redeliver-restart] a hand-over that was cut short before it was confirmed is tried again, marked', async () => {
    const river = await open({ agent: { redelivery: WAIT } })
    river.crashAt('dispatch.before-hand-over')
    await river.person('anna').says('hi').catch(SILENT)
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.deliveries.map((one) => [one.text, one.repeat])).toEqual([['hi', true]])
    expect(river.platform.texts('anna')).toEqual(['re: hi'])
  })

  it('[S6.chorus-silence-told] silence is told after redeliver_after, not before, and a sign of life gives more time', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.pass(50_000)
    const [delivery] = river.agent.deliveries as [Delivery]
    await river.agent.evidence(delivery, 'seen')
    await river.pass(50_000)
    await river.agent.status(delivery, 'still at it')
    await river.pass(50_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(11_000)
    expect(river.platform.texts('anna')).toEqual([GIVEN_UP])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'agent_silent' })
    await river.agent.answer(delivery, 'sorry, slow')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([GIVEN_UP, 'sorry, slow'])
  })

  it('[I35.left-silent] one that took a turn and never answered is failing in status and doctor until it answers', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    const answers = river.agent.script
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.pass(59_000)
    expect((await river.operator().status()).agents[0]).toMatchObject({ state: 'attached' })
    await river.pass(5_000)
    const detail = 'it took a message and did not answer within 60 s'
    const [agent] = (await river.operator().status()).agents
    expect(agent?.state).toBe('failing')
    expect(agent?.detail).toContain(detail)
    expect((await river.operator().doctor()).problems).toMatchObject([{ code: 'agent-failing' }])
    river.agent.script = answers
    await river.person('bert').says('and me?')
    await river.pass(5_000)
    expect(river.platform.texts('bert')).toEqual(['re: and me?'])
    expect((await river.operator().status()).agents[0]).toMatchObject({ state: 'attached' })
  })

  it('[S6.chorus-silence-told] a sign of life is remembered across a restart, whatever it was', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.pass(10_000)
    const [delivery] = river.agent.deliveries as [Delivery]
    await river.agent.evidence(delivery, 'seen')
    await river.pass(45_000)
    await river.agent.status(delivery, 'still at it')
    await river.pass(45_000)
    await river.agent.trouble(delivery, 'a tool failed')
    await river.pass(30_000)
    await river.restart()
    await river.pass(25_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(10_000)
    expect(river.platform.texts('anna')).toEqual([GIVEN_UP])
  })

  it('[I9.blank-no-answer] an answer without words is told as one, whatever fits into a message there', async () => {
    for (const platform of [{}, { textLimit: 100 }]) {
      const river = await open({ agent: { redelivery: WAIT }, platform })
      river.agent.script = SILENT
      const { id } = await river.person('anna').says('hi')
      await river.settle()
      await river.agent.answer(river.agent.deliveries[0] as Delivery, ' \n ')
      await river.settle()
      expect(river.platform.texts('anna')).toEqual([wordsIn().notices.noReply])
      expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered' })
    }
  })

  it('[S8.error-fails] that an agent is at work is known after a restart: its error is not the end, another’s is', async () => {
    const river = await open({ agent: { redelivery: WAIT } })
    river.agent.script = SILENT
    for (const who of ['anna', 'bert']) await river.person(who).says('hi')
    await river.settle()
    const [anna, bert] = river.agent.deliveries as [Delivery, Delivery]
    await river.agent.evidence(anna, 'seen', { working: true })
    await river.agent.evidence(bert, 'seen')
    await river.restart()
    await river.pass(20_000)
    const fails = (one: Delivery) => river.agent.fail(one, 'a tool failed', { unlessWorking: true })
    expect([await fails(anna), await fails(bert)]).toEqual([{ id: null, working: true }, { id: null }])
    await river.settle()
    expect(await river.operator().turn(anna.turn)).toMatchObject({ state: 'seen', reason: 'working' })
    expect(await river.operator().turn(bert.turn)).toMatchObject({ state: 'failed', reason: 'agent_failed' })
    await river.agent.answer(anna, 'it works after all')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['it works after all'])
    expect(await river.operator().turn(anna.turn)).toMatchObject({ state: 'answered', reason: null })
  })

  it('[I35.a2-agents] an answer to a turn that went back to the queue ends it, and it is not handed over again', async () => {
    const river = await open({ agent: { redelivery: WAIT } })
    let first: Delivery | null = null
    river.agent.script = (delivery) => {
      first ??= delivery
      if (river.agent.tries === 1)
        throw new SwitchboardError('agent_unreachable', 'the agent answered 504', {
          written: true,
          retryAfterMs: 60_000,
        })
    }
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'queued', repeat: true })
    const answering = river.agent.answer(first as unknown as Delivery, 'there it is')
    await river.settle()
    await answering
    await river.pass(10 * 60_000)
    expect(river.platform.texts('anna')).toEqual(['there it is'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered', reason: null })
    expect(river.agent.deliveries).toHaveLength(1)
    await river.person('anna').says('more')
    await river.settle()
    expect(river.agent.texts()).toEqual(['hi', 'more'])
  })

  it('[S2.no-lie-given-up] an answer that waits for the store is not silence', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.pass(58_000)
    river.storeAway('accept', 6)
    const answering = river.agent.answer(river.agent.deliveries[0] as Delivery, 'the answer')
    await river.pass(30_000)
    await answering
    expect(river.platform.texts('anna')).toEqual(['the answer'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered', reason: null })
    await river.pass(120_000)
    expect(river.platform.texts('anna')).toEqual(['the answer'])
  })

  it('[S2.no-lie-given-up] a silence that was told is told once, though nobody heard that it was', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    river.loseAnswer('accept', 1)
    await river.pass(70_000)
    expect(river.platform.texts('anna')).toEqual([GIVEN_UP])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'agent_silent' })
  })

  it('[S6.chorus-silence-told] a restart does not begin the wait anew', async () => {
    const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.pass(40_000)
    await river.restart()
    await river.pass(19_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(3_000)
    expect(river.platform.texts('anna')).toEqual([GIVEN_UP])
  })
})

describeRiver(
  'agents that live on, heard at another node',
  (open) => {
    it('[S6.chorus-silence-told] [I6.callback-across] a sign of life there gives more time where the turn is waited for', async () => {
      const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
      river.agent.script = SILENT
      await river.person('anna').says('hi')
      await river.pass(10_000)
      const [delivery] = river.agent.deliveries as [Delivery]
      await river.agent.evidence(delivery, 'seen')
      await river.pass(50_000)
      // This store is the first node's; the turn is in flight at the second.
      expect(await river.store().heardOf(delivery.turn, 'demo')).toBe(true)
      await river.pass(50_000)
      expect(river.platform.texts('anna')).toEqual([])
      await river.pass(11_000)
      expect(river.platform.texts('anna')).toEqual([GIVEN_UP])
    })

    it('[S2.no-lie-given-up] [I6.settle-anywhere] what was answered there is not given up here, though nobody heard of it', async () => {
      const river = await open({ agent: { redelivery: WAIT }, tunables: { redeliverAfterMs: 60_000 } })
      river.agent.script = SILENT
      const anna = river.person('anna')
      await anna.says('hi')
      await river.settle()
      const [{ turn, session }] = river.agent.deliveries as [Delivery]
      river.hear(false)
      const about = { platform: 'test', cause: 'reply', agent: 'demo', session, turn } as const
      const answer = { to: { integration: 'chat', conversation: 'anna' }, ...about }
      const said = [{ ...answer, op: { kind: 'text', text: 'the answer' } }] as const
      // This store is the first node's; the turn is in flight at the second.
      expect(await river.store().acceptFor(said, { turn, to: 'answered' })).toMatchObject({
        outcome: 'accepted',
      })
      await river.pass(70_000)
      expect(river.platform.texts('anna')).toEqual(['the answer'])
      expect(await river.operator().turn(turn)).toMatchObject({ state: 'answered' })
      river.hear(true)
      await anna.says('more')
      await river.pass(20_000)
      expect(river.agent.texts()).toEqual(['hi', 'more'])
    })
  },
  ['three nodes'],
)
