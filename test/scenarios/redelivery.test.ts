// Offering again: after a crash, a reconnect, a time-out; marked, in order, and not for ever.
import { expect, it } from 'vitest'
import { type Delivery, SwitchboardError } from '../../src/contract/index.ts'
import { AGAIN } from '../../src/testing/scripted/scripted-connector.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { describeRiver, type OpenRiver } from './river.ts'
import { caller, outcomeOf } from './tool-caller.ts'

const BUSY = () => new SwitchboardError('rate_limited', 'the agent is busy')
const SILENT = () => undefined

describeRiver('offering again', (open) => {
  it('[S2.redeliver-restart] [S2.redelivery-marked] what was handed but not seen is offered again after a crash, marked', async () => {
    const river = await open()
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    const [first, second] = river.agent.deliveries as [Delivery, Delivery]
    expect(first).toMatchObject({ attempt: 1, repeat: false })
    expect(first.meta.redelivery).toBeUndefined()
    expect(second).toMatchObject({ attempt: 2, repeat: true, turn: first.turn, session: first.session })
    expect(second.meta.redelivery).toBe('true')
    expect(river.agent.deliveries).toHaveLength(2)
  })

  it.each([
    ['dispatch.before-hand-over', 0],
    ['dispatch.after-hand-over', 1],
    ['dispatch.before-settle', 1],
  ] as const)(
    '[S2.redeliver-restart] [S2.redelivery-marked] a crash at %s makes a marked repeat, and order holds',
    async (point, handed) => {
      const river = await open()
      river.agent.script = async (delivery, agent) => {
        if (delivery.repeat || point === 'dispatch.before-settle')
          await agent.answer(delivery, `re: ${delivery.text}`)
      }
      river.crashAt(point)
      const anna = river.person('anna')
      await anna.says('1')
      await anna.says('2').catch(SILENT)
      await river.settle()
      expect(river.agent.deliveries).toHaveLength(handed)
      river.agent.script = async (delivery, agent) =>
        void (await agent.answer(delivery, `re: ${delivery.text}`))
      await river.restart()
      await river.pass(20_000)
      expect(river.agent.deliveries.slice(handed).map((one) => [one.text, one.repeat])).toEqual([
        ['1', true],
        ['2', false],
      ])
      expect(river.platform.texts('anna')).toEqual(['re: 1', 're: 2'])
    },
  )

  it('[S2.redeliver-restart] a crash after the answer was committed repeats nothing, and the answer goes out', async () => {
    const river = await open({ platform: { abilities: { idempotentSend: true } } })
    river.crashAt('dispatch.after-settle')
    await river.person('anna').says('1')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.texts()).toEqual(['1'])
    expect(river.platform.texts('anna')).toEqual(['re: 1'])
  })

  it('[S11.unknown-note] an answer that the same commit took for sending goes out after a crash, marked where nobody can tell', async () => {
    const river = await open()
    river.crashAt('dispatch.after-settle')
    await river.person('anna').says('1')
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.texts()).toEqual(['1'])
    const [said, ...more] = river.platform.texts('anna')
    expect(said).toContain('re: 1')
    expect(more).toEqual([])
  })

  it('[S2.redeliver-reconnect] what was handed but not seen is offered again when the agent comes back', async () => {
    const river = await open({ agent: { window: 2 } })
    river.agent.script = SILENT
    for (const text of ['1', '2', '3']) await river.person('anna').says(text)
    await river.settle()
    river.agent.detach()
    await river.settle()
    river.agent.attach()
    await river.settle()
    expect(river.agent.deliveries.map((one) => [one.text, one.repeat])).toEqual([
      ['1', false],
      ['2', false],
      ['1', true],
      ['2', true],
    ])
  })

  it('[I14.seen-again] what was seen and neither acknowledged nor answered is offered again, marked, when its host went', async () => {
    const river = await open({ agent: { window: 3, redelivery: AGAIN } })
    river.agent.script = (delivery, agent) =>
      delivery.repeat ? undefined : void agent.evidence(delivery, 'seen').catch(() => undefined)
    const ids: string[] = []
    for (const text of ['1', '2', '3']) ids.push((await river.person('anna').says(text)).id ?? '')
    await river.settle()
    await river.agent.answer(river.agent.deliveries[2] as Delivery, 'three')
    const states = () => Promise.all(ids.map(async (id) => (await river.operator().turn(id))?.state))
    expect(await states()).toEqual(['seen', 'seen', 'answered'])
    river.agent.detach()
    await river.settle()
    river.agent.attach()
    await river.settle()
    expect(river.agent.deliveries.slice(3).map((one) => [one.text, one.repeat, one.continuation])).toEqual([
      ['1', true, false],
      ['2', true, false],
    ])
    expect(await states()).toEqual(['handed', 'handed', 'answered'])
  })

  it('[S6.redelivery-declared] a connector that declares give-up is not offered it again; the person is told', async () => {
    const river = await open({
      agent: { redelivery: { handed: 'give-up', seen: 'give-up', afterTimeout: false } },
    })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.texts()).toEqual(['hi'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'agent_silent' })
    expect(river.platform.texts('anna')).toEqual([
      '⚠️ Your message was not answered. The agent received it and never answered.',
    ])
  })

  it('[S6.redelivery-declared] a seen turn is resumed as a continuation where the connector declares it', async () => {
    const river = await open({
      agent: { redelivery: { handed: 'again', seen: 'resume', afterTimeout: false } },
    })
    river.agent.script = async (delivery, agent) => void (await agent.evidence(delivery, 'seen'))
    await river.person('anna').says('hi')
    await river.restart()
    await river.pass(20_000)
    expect(river.agent.deliveries.map((one) => [one.repeat, one.continuation])).toEqual([
      [false, false],
      [true, true],
    ])
  })

  it('[S2.redeliver-timeout] silence offers it again only where the connector can know that nothing runs', async () => {
    const tunables = { redeliverAfterMs: 30_000 }
    const patient = await open({ tunables })
    const knowing = await open({ tunables, agent: { redelivery: { ...AGAIN, afterTimeout: true } } })
    for (const river of [patient, knowing]) {
      river.agent.script = SILENT
      await river.person('anna').says('hi')
      await river.pass(31_000)
    }
    expect(patient.agent.deliveries).toHaveLength(1)
    expect(knowing.agent.deliveries.map((one) => one.repeat)).toEqual([false, true])
    await knowing.agent.evidence(knowing.agent.deliveries[1] as Delivery, 'seen')
    await knowing.pass(120_000)
    expect(knowing.agent.deliveries, 'seen: it is at work').toHaveLength(2)
  })

  it('[S2.max-attempts] [S2.given-up-notice] a turn is offered max_attempts times, then failed, and the sender is told', async () => {
    const river = await open({ tunables: { maxAttempts: 3 } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    await river.person('anna').says('next')
    for (let life = 0; life < 5; life++) {
      await river.restart()
      await river.pass(20_000)
    }
    expect(river.agent.deliveries.filter((one) => one.text === 'hi').map((one) => one.attempt)).toEqual([
      1, 2, 3,
    ])
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'max_attempts' })
    expect(river.platform.texts('anna')[0]).toBe(
      '⚠️ Your message was not answered. It was tried as often as max_attempts allows.',
    )
    expect(river.agent.deliveries.at(-1)?.text).toBe('next')
  })

  it('[S2.max-attempts] a busy agent is tried again with growing pauses, unmarked, then given up', async () => {
    const river = await open({ tunables: { maxAttempts: 3 } })
    river.agent.failNext(BUSY(), BUSY())
    await river.person('anna').says('hi')
    await river.settle()
    expect(river.agent.deliveries).toHaveLength(0)
    await river.pass(900)
    expect(river.agent.deliveries).toHaveLength(0)
    await river.pass(2_200)
    expect(river.agent.deliveries.map((one) => [one.attempt, one.repeat])).toEqual([[3, false]])
    river.agent.failNext(BUSY(), BUSY(), BUSY())
    const { id } = await river.person('anna').says('again')
    await river.pass(60_000)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'max_attempts' })
    expect(river.platform.texts('anna').at(-1)).toContain('(the agent is busy)')
  })

  it('[S2.max-attempts] an agent that asks to be tried at once is tried after a pause, and one that asks for longer after that', async () => {
    const river = await open({ tunables: { maxAttempts: 3 } })
    const busy = (retryAfterMs: number) =>
      new SwitchboardError('rate_limited', 'the agent is busy', { retryAfterMs })
    river.agent.failNext(busy(0), busy(0))
    await river.person('anna').says('hi')
    await river.pass(900)
    expect(river.agent.deliveries).toHaveLength(0)
    await river.pass(2_200)
    expect(river.agent.deliveries.map((one) => one.attempt)).toEqual([3])
    river.agent.failNext(busy(9_000))
    await river.person('anna').says('more')
    await river.pass(8_000)
    expect(river.agent.texts()).toEqual(['hi'])
    await river.pass(2_000)
    expect(river.agent.texts()).toEqual(['hi', 'more'])
  })

  it('a reload that restarts the connector offers again what it had in hand', async () => {
    const river = await open()
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.settle()
    const agent = testAgent('demo', ['chat'], { connector: { type: 'test', options: { changed: true } } })
    await river.configure({ agents: [agent] })
    expect(river.agent.deliveries.map((one) => one.repeat)).toEqual([false, true])
  })

  const RESTING = { ...AGAIN, acknowledged: 'rest' } as const
  const acknowledged = async (open: OpenRiver) => {
    const river = await open({ agent: { redelivery: RESTING } })
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('1')
    await river.settle()
    const [first] = river.agent.deliveries as [Delivery]
    const acked = await outcomeOf(river, river.tools().ack(caller(), { messageId: first.messageId }))
    expect(acked).toMatchObject({ text: 'acknowledged' })
    await river.settle()
    const turn = () => river.operator().turn(id ?? '')
    expect(await turn()).toMatchObject({ state: 'seen', reason: 'acknowledged', attempts: 1 })
    return { river, first, turn }
  }

  it('[S6.channel-ack-rests] an acknowledged turn holds up nobody, and is pending no more', async () => {
    const { river, first, turn } = await acknowledged(open)
    await river.person('anna').says('2')
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2'])
    const pending = await river.tools().pendingMessages(caller())
    expect(pending.structured.messages).toMatchObject([{ text: '2' }])
    await river.agent.evidence(first, 'seen')
    expect(await turn()).toMatchObject({ state: 'seen', reason: 'acknowledged' })
  })

  it('[S6.channel-ack-rests] it is not offered again, and can be answered later, by name or when nothing else is open', async () => {
    const { river, first, turn } = await acknowledged(open)
    for (let life = 0; life < 6; life++) {
      await river.restart()
      await river.pass(20_000)
    }
    river.agent.detach()
    await river.settle()
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['1'])
    expect(await turn()).toMatchObject({ state: 'seen', reason: 'acknowledged', attempts: 1 })
    await river.person('anna').says('2')
    await river.settle()
    const second = river.agent.deliveries[1] as Delivery
    const reply = (input: object) =>
      outcomeOf(river, river.tools().reply(caller(), { chatId: first.chatId, text: 'x', ...input }))
    await reply({})
    expect(await river.operator().turn(second.turn)).toMatchObject({ state: 'answered' })
    expect(await turn()).toMatchObject({ state: 'seen' })
    await reply({ replyTo: first.messageId })
    expect(await turn()).toMatchObject({ state: 'answered' })
    const after = await acknowledged(open)
    await outcomeOf(
      after.river,
      after.river.tools().reply(caller(), { chatId: after.first.chatId, text: 'y' }),
    )
    expect(await after.turn()).toMatchObject({ state: 'answered' })
  })

  it('[S6.ch-kept] what an attached host still has goes on through every end of the gateway, seen and uncounted', async () => {
    const river = await open({ agent: { keeps: true, window: 2 }, tunables: { maxAttempts: 3 } })
    river.agent.script = SILENT
    const ids = [await river.person('anna').says('1'), await river.person('anna').says('2')]
    await river.settle()
    const [first, second] = river.agent.deliveries as [Delivery, Delivery]
    await river.agent.evidence(first, 'seen')
    for (let life = 0; life < 6; life++) {
      await river.restart()
      await river.pass(20_000)
    }
    const turns = () => Promise.all(ids.map(({ id }) => river.operator().turn(id ?? '')))
    expect(await turns()).toMatchObject([
      { state: 'seen', attempts: 1 },
      { state: 'handed', attempts: 1 },
    ])
    await river.agent.answer(first, 'a')
    await river.agent.answer(second, 'b')
    await river.settle()
    expect(await turns()).toMatchObject([{ state: 'answered' }, { state: 'answered' }])
    expect(river.platform.texts('anna')).toEqual(['a', 'b'])
    expect(river.agent.texts()).toEqual(['1', '2'])
  })

  it('[S6.ch-kept] one that is offered again to the host that has it gives its attempt back, and is seen again', async () => {
    const river = await open({ tunables: { maxAttempts: 3 } })
    river.agent.script = async (delivery, agent) => {
      if (delivery.repeat) await agent.kept(delivery, true)
      else await agent.evidence(delivery, 'seen')
    }
    const { id } = await river.person('anna').says('1')
    for (let flap = 0; flap < 6; flap++) {
      await river.settle()
      river.agent.detach()
      await river.settle()
      river.agent.attach()
    }
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'seen', attempts: 1 })
    expect(river.platform.texts('anna')).toEqual([])
  })
})
