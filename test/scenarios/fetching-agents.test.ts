// Agents behind one exchange (http): one answer that is whole or told as incomplete, and verdicts that they come for.
import { expect, it } from 'vitest'
import type { AgentOutput, Delivery, Redelivery } from '../../src/contract/index.ts'
import { asking, headlines, RUN, state } from './asking.ts'
import { describeRiver, type OpenRiver, type River } from './river.ts'

const WAIT: Redelivery = { handed: 'wait', seen: 'wait', afterTimeout: false }

type Say = Partial<Extract<AgentOutput, { kind: 'say' }>>

describeRiver('agents that fetch', (open) => {
  const handed = async (from: OpenRiver): Promise<{ river: River; delivery: Delivery }> => {
    const river = await from({ agent: { redelivery: WAIT } })
    river.agent.script = () => undefined
    await river.person('anna').says('hi')
    await river.settle()
    return { river, delivery: river.agent.deliveries[0] as Delivery }
  }
  const say = async (river: River, { session, turn }: Delivery, text: string, more: Say = {}) => {
    const said = river.agent
      .accept({ kind: 'say', session, turn, text, final: true, sole: true, ...more })
      .then(
        () => 'said',
        (error: { code?: string }) => error.code,
      )
    await river.pass(25_000)
    return said
  }

  it('[I16.http-one-answer] the one answer is refused once there is one, and the same key again is the same answer', async () => {
    const { river, delivery } = await handed(open)
    expect(await say(river, delivery, 'first', { idempotencyKey: 'k1' })).toBe('said')
    expect(await say(river, delivery, 'first', { idempotencyKey: 'k1' })).toBe('said')
    expect(await say(river, delivery, 'second', { idempotencyKey: 'k2' })).toBe('conflict')
    expect(await say(river, delivery, 'a word more', { final: false })).toBe('conflict')
    expect(river.platform.texts('anna')).toEqual(['first'])
  })

  it('[I16.http-one-answer] a turn that was given up takes no answer any more', async () => {
    const { river, delivery } = await handed(open)
    const { turn } = delivery
    await river.agent.accept({ kind: 'failed', turn, reason: 'agent_failed', detail: 'no' })
    await river.settle()
    const before = river.platform.texts('anna')
    expect(await say(river, delivery, 'after all')).toBe('conflict')
    expect(river.platform.texts('anna')).toEqual(before)
  })

  it('[I35.b25] time in which a person is asked is known to the connector, and is no silence', async () => {
    const { river, id } = await asking(open, {
      ...{ agent: { redelivery: WAIT, verdict: 'fetched' }, tunables: { redeliverAfterMs: 60_000 } },
    })
    const delivery = river.agent.deliveries[0] as Delivery
    const since = river.now()
    await river.pass(40_000)
    expect(await river.agent.askedMs(delivery.turn, since)).toBe(40_000)
    await river.pass(50_000)
    expect(river.platform.texts('anna').filter((text) => text.includes('never answered'))).toEqual([])
    await river.person('anna').says(`no ${id}`)
    await river.pass(5_000)
    expect(await river.agent.askedMs(delivery.turn, since)).toBe(90_000)
    // From the hand-over on it has had five of its sixty seconds.
    await river.pass(50_000)
    expect(await river.operator().turn(delivery.turn)).toMatchObject({ state: 'seen' })
    await river.pass(10_000)
    expect(await river.operator().turn(delivery.turn)).toMatchObject({
      state: 'failed',
      reason: 'agent_silent',
    })
  })

  it('[I35.b25-withdrawn] a question that was withdrawn is asked time until then, and the time-out is not late', async () => {
    const { river, id } = await asking(open, {
      ...{ agent: { redelivery: WAIT, verdict: 'fetched' }, tunables: { redeliverAfterMs: 60_000 } },
    })
    const delivery = river.agent.deliveries[0] as Delivery
    const since = river.now()
    await river.pass(10_000)
    await river.store().settleApproval(id, 'withdrawn')
    await river.pass(40_000)
    expect(await river.agent.askedMs(delivery.turn, since)).toBe(10_000)
    await river.pass(21_000)
    expect(await river.operator().turn(delivery.turn)).toMatchObject({
      state: 'failed',
      reason: 'agent_silent',
    })
  })

  it('[I16.http-list-one-commit] several messages come in order, with the end of the turn', async () => {
    const { river, delivery } = await handed(open)
    expect(await say(river, delivery, 'three', { before: ['one', 'two'], idempotencyKey: 'k' })).toBe('said')
    expect(river.platform.texts('anna')).toEqual(['one', 'two', 'three'])
    expect(await river.operator().turn(delivery.turn)).toMatchObject({ state: 'answered' })
    expect(await say(river, delivery, 'three', { before: ['one', 'two'], idempotencyKey: 'k' })).toBe('said')
    expect(river.platform.texts('anna')).toEqual(['one', 'two', 'three'])
  })

  it('[I16.http-list-one-commit] of a crash in the commit all of it comes, or nothing', async () => {
    const { river, delivery } = await handed(open)
    river.crashAt('dispatch.before-settle')
    void say(river, delivery, 'two', { before: ['one'] }).catch(() => undefined)
    await river.settle()
    await river.restart()
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual([])
    expect(await say(river, delivery, 'two', { before: ['one'] })).toBe('said')
    expect(river.platform.texts('anna')).toEqual(['one', 'two'])
  })

  it('[I16.http-cut-stream] what came before silence is sent as incomplete, with the notice, and the turn failed', async () => {
    const { river, delivery } = await handed(open)
    const { turn } = delivery
    const text = 'The weather is'
    await river.agent.accept({ kind: 'failed', turn, reason: 'agent_silent', detail: 'cut', text })
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([
      'The weather is …\n\n⚠️ Incomplete: the agent stopped here.',
      '⚠️ Your message was not answered. The agent received it and never answered. (cut)',
    ])
    expect(await river.operator().turn(turn)).toMatchObject({ state: 'failed', reason: 'agent_silent' })
  })

  it('files go out after the text, or with none, in the same commit', async () => {
    const { river, delivery } = await handed(open)
    const files = [{ name: 'a.txt', mime: 'text/plain', bytes: Buffer.from('abc') }]
    expect(await say(river, delivery, '', { files })).toBe('said')
    expect(river.platform.arrived.map(({ op }) => op)).toMatchObject([{ kind: 'file', name: 'a.txt' }])
    expect(await river.operator().turn(delivery.turn)).toMatchObject({ state: 'answered' })
  })

  it('[I14.asks-per-turn] ten questions of a turn wait at once, one more is refused until one of them ended', async () => {
    const { river, id } = await asking(open, { agent: { redelivery: WAIT, verdict: 'fetched' } })
    const delivery = river.agent.deliveries[0] as Delivery
    const ask = (at: number) => ({ ...RUN, input: `step ${at}`, requestId: `r${at}`, host: 'http' })
    const asked = (at: number) => river.agent.ask(delivery, ask(at))
    for (let at = 1; at < 10; at++) await asked(at)
    const refused = { code: 'rate_limited', retryAfterMs: expect.any(Number) }
    await expect(asked(10)).rejects.toMatchObject(refused)
    await river.settle()
    expect(await river.operator().approvals(null, 100)).toHaveLength(10)
    expect(river.platform.shown('anna').join()).not.toContain('step 10')
    // What was asked already is asked no second time.
    await asked(9)
    await river.person('anna').says(`no ${id}`)
    await river.settle()
    await asked(10)
    await expect(asked(11)).rejects.toMatchObject(refused)
    // A question of another message is none of this turn's.
    river.agent.script = async (other, agent) => void (await agent.ask(other, ask(12)))
    await river.person('berta').says('and mine')
    await river.settle()
    expect(await river.operator().approvals(null, 100)).toHaveLength(12)
  })

  it('[I16.http-ask-any-node] a verdict waits until the agent comes for it, and reads allowed only then', async () => {
    const { river, id } = await asking(open, { agent: { redelivery: WAIT, verdict: 'fetched' } })
    const { turn } = river.agent.deliveries[0] as Delivery
    expect(await river.agent.fetchVerdict(id, turn)).toBe('pending')
    await river.person('anna').says(`yes ${id}`)
    await river.pass(20_000)
    expect(await state(river, id)).toBe('decided')
    expect(river.platform.shown('anna').join()).toContain('waits for the agent')
    await expect(river.agent.fetchVerdict(id, 't_other')).rejects.toMatchObject({ code: 'not_found' })
    const fetched = river.agent.fetchVerdict(id, turn)
    await river.settle()
    expect(await fetched).toMatchObject({ behavior: 'allow', decidedBy: 'anna' })
    expect(await state(river, id)).toBe('relayed')
    expect(headlines(river.platform.shown('anna'))).toEqual([`Bash (${id}): allowed by anna`])
    // The answer to it may have been lost: whoever asks again hears the same.
    expect(await river.agent.fetchVerdict(id, turn)).toMatchObject({ behavior: 'allow' })
  })

  it('[I16.http-ask-any-node] a verdict that was given while nobody lived is fetched after the restart', async () => {
    const { river, id } = await asking(open, { agent: { redelivery: WAIT, verdict: 'fetched' } })
    const { turn } = river.agent.deliveries[0] as Delivery
    await river.person('anna').says(`no ${id}`)
    await river.restart()
    await river.pass(20_000)
    expect(await state(river, id)).toBe('decided')
    const fetched = river.agent.fetchVerdict(id, turn)
    await river.settle()
    expect(await fetched).toMatchObject({ behavior: 'deny' })
    expect(await state(river, id)).toBe('relayed')
  })

  it('[I16.http-ask-unfetched] one that the agent does not come for is undeliverable after ten minutes, and stays so', async () => {
    const { river, id } = await asking(open, { agent: { redelivery: WAIT, verdict: 'fetched' } })
    const { turn } = river.agent.deliveries[0] as Delivery
    await river.person('anna').says(`yes ${id}`)
    await river.pass(9 * 60_000)
    expect(await state(river, id)).toBe('decided')
    await river.pass(90_000)
    expect(await state(river, id)).toBe('undeliverable')
    expect(river.platform.shown('anna').join()).toContain('the agent is gone')
    await expect(river.agent.fetchVerdict(id, turn)).rejects.toMatchObject({ code: 'gone' })
  })

  it('one that expired is a denial for whoever comes for it', async () => {
    const { river, id } = await asking(open, {
      agent: { redelivery: WAIT, verdict: 'fetched' },
      tunables: { approvalExpiryMs: 60_000 },
    })
    const { turn } = river.agent.deliveries[0] as Delivery
    await river.pass(70_000)
    expect(await river.agent.fetchVerdict(id, turn)).toMatchObject({ behavior: 'deny', cause: 'expired' })
  })
})
