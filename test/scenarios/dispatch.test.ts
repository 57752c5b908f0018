// From the inbox to the agent: order, evidence, absence, giving up.
import { expect, it } from 'vitest'
import { type Delivery, SwitchboardError } from '../../src/contract/index.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'

const BUSY = () => new SwitchboardError('rate_limited', 'the agent is busy')
const SILENT = () => undefined

describeRiver('dispatch', (open) => {
  it('[S2.order-in-session] [S1.session-unit-of-order] with window 1 the next waits for the answer to the one before', async () => {
    const river = await open()
    river.agent.script = SILENT
    for (const text of ['1', '2', '3']) await river.person('anna').says(text)
    await river.settle()
    expect(river.agent.texts()).toEqual(['1'])
    for (const seen of ['1', '2', '3']) {
      const last = river.agent.deliveries.at(-1) as Delivery
      expect(last.text).toBe(seen)
      await river.agent.answer(last, `re: ${seen}`)
      await river.settle()
    }
    expect(river.platform.texts('anna')).toEqual(['re: 1', 're: 2', 're: 3'])
  })

  it('[S2.order-in-session] with window 3 three are in flight, in order, and no more', async () => {
    const river = await open({ agent: { window: 3 } })
    river.agent.script = SILENT
    for (const text of ['1', '2', '3', '4', '5']) await river.person('anna').says(text)
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    const [first, second] = river.agent.deliveries as [Delivery, Delivery]
    await river.agent.answer(second, 're: 2')
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2', '3', '4'])
    await river.agent.answer(first, 're: 1')
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2', '3', '4', '5'])
  })

  it('[S2.sessions-independent] a slow conversation or agent delays nobody else', async () => {
    const river = await open({
      agents: [
        testAgent('slow', [], {
          bindings: [
            { plugin: 'test', instance: 'chat', allowedChannelServers: [], conversations: ['anna', 'cleo'] },
          ],
        }),
        testAgent('demo', ['chat']),
      ],
    })
    const slow = river.agentNamed('slow')
    slow.script = (delivery) =>
      delivery.chatId === 'chat:anna'
        ? new Promise(() => undefined)
        : slow.answer(delivery, 'ok').then(SILENT)
    for (const who of ['anna', 'bert', 'cleo']) await river.person(who).says('hi')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([])
    expect(river.platform.texts('bert')).toEqual(['re: hi'])
    expect(river.platform.texts('cleo')).toEqual(['ok'])
  })

  it('[S2.evidence-needed] [S6.demo-evidence] nothing is seen or answered before the agent says so', async () => {
    const river = await open()
    river.agent.script = SILENT
    const { id } = await river.person('anna').says('hi')
    const state = async () => (await river.operator().turn(id ?? ''))?.state
    await river.pass(60_000)
    expect(await state()).toBe('handed')
    const [delivery] = river.agent.deliveries as [Delivery]
    await river.agent.evidence(delivery, 'seen')
    expect(await state()).toBe('seen')
    await river.agent.say(delivery, 'working on it')
    expect(await state()).toBe('seen')
    await river.agent.answer(delivery, 'done')
    expect(await state()).toBe('answered')
    await river.agent.evidence(delivery, 'seen')
    expect(await state()).toBe('answered')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['working on it', 'done'])
  })

  it('[S6.finished-silent-told] an agent that ends a turn without a word leaves the sender a line', async () => {
    const river = await open()
    river.agent.script = async (delivery, agent) => void (await agent.evidence(delivery, 'answered'))
    await river.person('anna').says('hi')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['The agent finished without replying.'])
  })

  it('[I9.error-told] a turn that ends without a word fails with the trouble told before, whoever heard of it', async () => {
    const river = await open()
    river.agent.script = async (delivery, agent) => {
      await agent.trouble(delivery, 'no weather today')
      await agent.evidence(delivery, 'answered')
    }
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'agent_failed' })
    expect(river.platform.texts('anna').join()).toContain('no weather today')
  })

  it('[S6.absent-queues] [S2.offline-notice-once] an absent agent: turns wait in order, the sender is told once per outage', async () => {
    const river = await open({ agent: { attached: false } })
    const anna = river.person('anna')
    await anna.says('1')
    await river.pass(10_000)
    await anna.says('2')
    await river.pass(10_000)
    const offline = 'demo is offline. Your message is kept and will be delivered when it is back.'
    expect(river.platform.texts('anna')).toEqual([offline])
    expect((await river.operator().status()).agents[0]).toMatchObject({ attached: false, queued: 2 })
    river.agent.attach()
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([offline, 're: 1', 're: 2'])
    river.agent.detach('gone for lunch')
    await anna.says('3')
    await river.pass(10_000)
    await anna.says('4')
    await river.pass(10_000)
    expect(river.platform.texts('anna').slice(3)).toEqual([offline])
    river.agent.attach()
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2', '3', '4'])
  })

  it('[S2.offline-notice-once] one that goes away over a message tells whoever wrote it', async () => {
    const river = await open()
    river.agent.script = async () => {
      river.agent.detach('its program is not there')
      throw new SwitchboardError('agent_absent', 'its program is not there')
    }
    await river.person('anna').says('1')
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual([
      'demo is offline. Your message is kept and will be delivered when it is back.',
    ])
  })

  it('[S2.offline-notice-once] an outage shorter than a breath is told to nobody', async () => {
    const river = await open({ agent: { attached: false } })
    await river.person('anna').says('1')
    await river.pass(2_000)
    river.agent.attach()
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual(['re: 1'])
  })

  it('[S2.given-up-notice] what the agent refuses for good, or fails at, ends failed with its words', async () => {
    const river = await open()
    river.agent.failNext(new SwitchboardError('agent_failed', 'context too long'))
    const refused = await river.person('anna').says('1')
    await river.settle()
    river.agent.script = async (delivery, agent) => void (await agent.fail(delivery, 'out of credit'))
    const failed = await river.person('anna').says('2')
    await river.settle()
    expect(await river.operator().turn(refused.id ?? '')).toMatchObject({ reason: 'agent_rejected' })
    expect(await river.operator().turn(failed.id ?? '')).toMatchObject({
      state: 'failed',
      reason: 'agent_failed',
    })
    const texts = river.platform.texts('anna')
    expect(texts[0]).toContain('context too long')
    expect(texts[1]).toContain('out of credit')
  })

  it('[S2.queue-expiry] [S2.given-up-notice] what waits longer than the queue expiry ends expired, and the sender is told', async () => {
    const river = await open({ agent: { attached: false }, tunables: { queueExpiryMs: 3_600_000 } })
    const { id } = await river.person('anna').says('hi')
    await river.sleep(3_500_000)
    expect((await river.operator().turn(id ?? ''))?.state).toBe('queued')
    // The store is away for two sweeps: neither the end nor the word is there without the other.
    river.storeAway('overdueTurns', 1)
    river.storeAway('expireTurns', 1)
    river.storeAway('enqueue', 1_000)
    for (let sweep = 0; sweep < 4; sweep++) await river.sleep(61_000)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'expired', reason: 'queue_expired' })
    expect(river.platform.texts('anna').at(-1)).toBe(
      '⚠️ Your message was not answered. It waited longer than queue_expiry.',
    )
    river.agent.attach()
    await river.settle()
    expect(river.agent.deliveries).toEqual([])
  })

  it('[S2.queue-expiry] what an operator sends round again waits anew', async () => {
    const river = await open({ agent: { attached: false }, tunables: { queueExpiryMs: 3_600_000 } })
    const { id } = await river.person('anna').says('hi')
    for (const ms of [3_700_000, 61_000]) await river.sleep(ms)
    expect((await river.operator().turn(id ?? ''))?.state).toBe('expired')
    await river.operator().operateTurn(id ?? '', 'retry', 'operator')
    for (const ms of [61_000, 3_400_000]) await river.sleep(ms)
    expect((await river.operator().turn(id ?? ''))?.state).toBe('queued')
    for (const ms of [200_000, 61_000]) await river.sleep(ms)
    expect((await river.operator().turn(id ?? ''))?.state).toBe('expired')
  })

  it('[S2.given-up-notice] a place that cannot be spoken to gets no notice', async () => {
    const river = await open({ platform: { abilities: { oneWay: true } } })
    river.agent.script = async (delivery, agent) => void (await agent.fail(delivery, 'no'))
    await river.person('anna').says('hi')
    await river.settle()
    expect(river.platform.attempts).toEqual([])
  })

  it('[S2.typing-kept-alive] typing is kept alive while the agent works, and ends with the turn', async () => {
    const river = await open()
    river.agent.script = SILENT
    await river.person('anna').says('hi')
    await river.pass(13_000)
    const typing = () =>
      river.platform.signals.flatMap(({ signal }) => (signal.kind === 'typing' ? [signal.on] : []))
    expect(typing()).toEqual([true, true, true, true])
    await river.agent.answer(river.agent.deliveries[0] as Delivery, 'done')
    await river.pass(30_000)
    expect(typing()).toEqual([true, true, true, true, false])
    const states = river.platform.signals.flatMap(({ signal }) =>
      signal.kind === 'turn_state' ? [signal.state] : [],
    )
    expect(states).toEqual(['handed', 'answered'])
  })

  it('a neighbour that is not taken does not disturb what is in flight', async () => {
    const river = await open({ agent: { window: 4 } })
    river.agent.script = SILENT
    await river.person('anna').says('1')
    await river.settle()
    river.agent.failNext(BUSY())
    await river.person('anna').says('2')
    await river.person('anna').says('3')
    await river.settle()
    await river.agent.answer(river.agent.deliveries[0] as Delivery, 're: 1')
    await river.pass(30_000)
    expect(river.agent.deliveries.map((one) => [one.text, one.repeat])).toEqual([
      ['1', false],
      ['2', false],
      ['3', false],
    ])
    expect(river.platform.texts('anna')).toEqual(['re: 1'])
  })

  it('an operator who cancels one turn of a session leaves its neighbours alone, and the next goes on', async () => {
    const river = await open({ agent: { window: 2 } })
    river.agent.script = SILENT
    const turns = []
    for (const text of ['1', '2', '3']) turns.push(await river.person('anna').says(text))
    await river.settle()
    await river.operator().operateTurn(turns[0]?.id ?? '', 'cancel', 'op')
    await river.settle()
    expect(river.agent.cancelled.map((one) => one.turn)).toEqual([turns[0]?.id])
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    await river.agent.answer(river.agent.deliveries[1] as Delivery, 're: 2')
    await river.pass(30_000)
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    expect(await river.operator().turn(turns[1]?.id ?? '')).toMatchObject({ state: 'answered' })
    expect(await river.operator().turn(turns[0]?.id ?? '')).toMatchObject({
      state: 'failed',
      reason: 'cancelled',
    })
  })

  it('an operator brings back a failed turn, and it is answered', async () => {
    const river = await open()
    river.agent.failNext(new SwitchboardError('agent_failed', 'no'))
    const { id } = await river.person('anna').says('hi')
    await river.settle()
    await river.operator().operateTurn(id ?? '', 'retry', 'op')
    await river.settle()
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'answered' })
    await expect(river.operator().operateTurn(id ?? '', 'retry', 'op')).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('a database that is away for a moment delays, and loses nothing', async () => {
    const river = await open()
    river.storeAway('takeTurns', 2)
    river.storeAway('accept', 3)
    river.storeAway('takeSends', 2)
    river.storeAway('moveSends', 3)
    await river.person('anna').says('hi')
    await river.pass(30_000)
    expect(river.agent.texts()).toEqual(['hi'])
    expect(river.platform.texts('anna')).toEqual(['re: hi'])
    river.storeAway('takeSends', 1)
    await river.person('anna').says('again')
    await river.pass(30_000)
    expect(river.platform.texts('anna')).toEqual(['re: hi', 're: again'])
  })

  it('[I6.unheard-take] [S2.order-in-session] a database that breaks off behind a commit: newer messages do not overtake', async () => {
    const river = await open({ agent: { window: 8 } })
    river.agent.script = () => undefined
    const anna = river.person('anna')
    await anna.says('1')
    await river.settle()
    river.loseAnswer('takeTurns', 1)
    await anna.says('2')
    await river.settle()
    await anna.says('3')
    await river.pass(30_000)
    expect(river.agent.texts()).toEqual(['1', '2', '3'])
    for (const delivery of river.agent.deliveries) await river.agent.answer(delivery, `re: ${delivery.text}`)
    await river.pass(1_000)
    expect(river.platform.texts('anna')).toEqual(['re: 1', 're: 2', 're: 3'])
  })

  it('[S2.order-in-session] a message that comes while an older one is being put back does not overtake it', async () => {
    const river = await open({ agent: { window: 8 } })
    const anna = river.person('anna')
    river.agent.failNext(
      new SwitchboardError('platform_unavailable', 'the agent hung up', { retryAfterMs: 10 }),
    )
    river.storeAway('moveTurns', 3)
    await anna.says('1')
    await river.settle()
    await anna.says('2')
    await river.pass(30_000)
    expect(river.agent.texts().filter((text, at, all) => all.indexOf(text) === at)).toEqual(['1', '2'])
    expect(river.platform.texts('anna')).toEqual(['re: 1', 're: 2'])
  })

  it('[I6.missed-hints] what came unheard into a lane that is held is found as soon as hints are heard again', async () => {
    const river = await open({ agent: { window: 8 } })
    river.agent.script = () => undefined
    const anna = river.person('anna')
    await anna.says('1')
    await river.settle()
    river.hear(false)
    await anna.says('2')
    await river.pass(20_000)
    expect(river.agent.texts()).toEqual(['1'])
    river.hear(true)
    await river.settle()
    expect(river.agent.texts()).toEqual(['1', '2'])
  })

  it('[I6.let-go] [S2.order-in-session] what was being taken while older turns went back does not overtake them', async () => {
    const river = await open({ agent: { window: 8 } })
    let refuse: (error: Error) => void = () => undefined
    river.agent.script = () =>
      new Promise((_, reject) => {
        refuse = reject
      })
    const anna = river.person('anna')
    await anna.says('1')
    await river.settle()
    await anna.says('2')
    await river.settle()
    const answer = river.delayAnswer('takeTurns')
    await anna.says('3')
    await river.settle()
    // The agent does not take the first: it goes back with the one behind it, and the lane is let go.
    river.agent.script = () => undefined
    refuse(new SwitchboardError('platform_unavailable', 'not now'))
    await river.settle()
    answer()
    await river.pass(30_000)
    expect(river.agent.texts()).toEqual(['1', '1', '2', '3'])
  })
})
