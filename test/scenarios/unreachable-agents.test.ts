// Agents that cannot be reached: the message is kept and tried again for as long as the queue keeps it, the person hears of
// it, and `status` and `doctor` say so by one word until the agent answers.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../src/contract/index.ts'
import { wordsIn } from '../../src/words/index.ts'
import { describeRiver, type River } from './river.ts'

const REFUSED = 'ECONNREFUSED'
const refused = (written = false) => new SwitchboardError('agent_unreachable', REFUSED, { written })
const many = (count: number) => Array.from({ length: count }, () => refused())

const stateOf = async (river: River) =>
  (await river.operator().status()).agents.find(({ id }) => id === 'demo')

describeRiver('an agent that cannot be reached', (open) => {
  it('[I35.b11] is unreachable in status and doctor from the first failed try, and its turn stays queued: agent_unreachable', async () => {
    const river = await open()
    river.agent.failNext(...many(1_000))
    const { id } = await river.person('anna').says('hi')
    await river.pass(2_600)
    expect(await stateOf(river)).toMatchObject({ state: 'unreachable', attached: true })
    expect((await stateOf(river))?.detail).toContain(REFUSED)
    const report = await river.operator().doctor()
    expect([report.ok, report.agents[0]?.state]).toEqual([false, 'unreachable'])
    expect(await river.operator().turn(id ?? '')).toMatchObject({
      state: 'queued',
      reason: 'agent_unreachable',
    })
    expect(river.platform.texts('anna')).toEqual([])
  })

  it('[I35.b11] the person is told once, after 20 s, and what is written meanwhile waits as well', async () => {
    const river = await open()
    river.agent.failNext(...many(1_000))
    await river.person('anna').says('hi')
    await river.pass(19_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.person('anna').says('are you there?')
    await river.pass(5_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    const { id } = await river.person('bert').says('hello')
    await river.pass(10 * 60_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    expect(river.platform.texts('bert')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    expect(await river.operator().turn(id ?? '')).toMatchObject({
      ...{ state: 'queued', reason: 'agent_unreachable', attempts: 0 },
    })
  })

  it('[I35.b11] tries that did not reach it are no attempts, and when it answers everything goes on in order', async () => {
    const river = await open({ tunables: { maxAttempts: 2 } })
    river.agent.failNext(...many(30))
    for (const who of ['anna', 'bert', 'carl']) await river.person(who).says(`hi from ${who}`)
    await river.person('anna').says('and more')
    await river.pass(60 * 60_000)
    expect([...river.agent.texts()].sort()).toEqual(
      ['and more', 'hi from anna', 'hi from bert', 'hi from carl'].sort(),
    )
    const notice = wordsIn().notices.unreachable({ agent: 'demo' })
    expect(river.platform.texts('anna')).toEqual([notice, 're: hi from anna', 're: and more'])
    expect(river.platform.texts('bert')).toEqual([notice, 're: hi from bert'])
    expect(river.agent.deliveries.every(({ attempt, repeat }) => attempt === 1 && !repeat)).toBe(true)
    expect(await stateOf(river)).toMatchObject({ state: 'attached' })
    expect(await river.operator().doctor()).toMatchObject({ agents: [{ state: 'attached' }] })
  })

  it('[I35.b11] is tried by one request at a time, at least once a minute, whatever waits', async () => {
    const river = await open()
    river.agent.failNext(...many(2_000))
    for (let at = 0; at < 20; at++) await river.person(`p${at}`).says('hi')
    await river.pass(2 * 60_000)
    const before = river.agent.tries
    await river.pass(10 * 60_000)
    expect(river.agent.tries - before).toBeGreaterThanOrEqual(9)
    expect(river.agent.tries - before).toBeLessThanOrEqual(12)
  })

  it('[I35.b11] a message that a gateway may have passed on is marked as a repeat', async () => {
    const river = await open()
    river.agent.failNext(refused(true))
    await river.person('anna').says('hi')
    await river.pass(5_000)
    expect(river.agent.deliveries).toMatchObject([{ repeat: true, attempt: 1 }])
  })

  it('[I35.b11] hand-overs whose request was written are attempts, and the agent is shown as unreachable meanwhile', async () => {
    const river = await open({ tunables: { maxAttempts: 2 } })
    const broke = () =>
      new SwitchboardError('platform_unavailable', 'ECONNRESET', { written: true, retryAfterMs: 30_000 })
    river.agent.failNext(broke(), broke())
    const { id } = await river.person('anna').says('hi')
    await river.pass(6_000)
    expect(await stateOf(river)).toMatchObject({ state: 'unreachable' })
    expect(await river.operator().turn(id ?? '')).toMatchObject({
      state: 'queued',
      reason: 'agent_unreachable',
    })
    await river.pass(18_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    await river.pass(30_000)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'failed', reason: 'max_attempts' })
    await river.person('anna').says('again')
    await river.pass(6_000)
    expect(await stateOf(river)).toMatchObject({ state: 'attached' })
  })

  it('[I35.b11] waits no longer than the queue keeps it', async () => {
    const river = await open({ tunables: { queueExpiryMs: 10 * 60_000 } })
    river.agent.failNext(...many(1_000))
    const { id } = await river.person('anna').says('hi')
    await river.pass(12 * 60_000)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'expired', reason: 'queue_expired' })
  })

  it.each(['stopped by its sender', 'cancelled by an operator', 'expired'])(
    '[I35.b11-no-longer] where the only message was %s, the outage is past: a warning with its time, until the next answer',
    async (how) => {
      const river = await open({ tunables: { queueExpiryMs: 5 * 60_000 } })
      river.agent.failNext(...many(14))
      const { id } = await river.person('anna').says('hi')
      await river.pass(60_000)
      expect(await stateOf(river)).toMatchObject({ state: 'unreachable' })
      const triedAt = new Date(river.now() - 60_000).toISOString().slice(0, 15)
      if (how === 'expired') await river.pass(6 * 60_000)
      else if (how === 'cancelled by an operator')
        await river.operator().operateTurn(id ?? '', 'cancel', 'operator')
      else await river.person('anna').says('/stop')
      await river.pass(11_000)
      const demo = await stateOf(river)
      expect(demo).toMatchObject({ state: 'attached', was_unreachable: expect.stringContaining(REFUSED) })
      expect(demo).not.toHaveProperty('since')
      if (how !== 'expired') expect(demo?.was_unreachable).toContain(triedAt)
      const report = await river.operator().doctor()
      const found = report.problems.filter(({ subject }) => subject === 'agent demo')
      expect(found).toMatchObject([{ code: 'agent-was-unreachable', severity: 'warning' }])
      expect(found[0]?.text).toContain('was unreachable at its last message')
      // It is tried at once when there is something for it again, and is well when it answers.
      const before = river.agent.tries
      await river.person('anna').says('again')
      await river.pass(500)
      expect(river.agent.tries).toBeGreaterThan(before)
      // The other nodes hear of it with the next heartbeat.
      await river.pass(2_000)
      expect(await stateOf(river)).toMatchObject({ state: 'unreachable' })
      await river.pass(270_000)
      expect(river.agent.texts()).toContain('again')
      expect(await stateOf(river)).not.toHaveProperty('was_unreachable')
    },
  )

  it('[I35.b11-no-longer] while one message waits, it stays unreachable, also during its tries', async () => {
    const river = await open()
    river.agent.failNext(...many(1_000))
    const { id } = await river.person('anna').says('hi')
    await river.person('bert').says('hello')
    await river.pass(5_000)
    await river.operator().operateTurn(id ?? '', 'cancel', 'operator')
    for (let at = 0; at < 40; at++) {
      await river.pass(7_000)
      expect(await stateOf(river)).toMatchObject({ state: 'unreachable' })
    }
  })

  it('[I35.left-recalled] after a kill it is unreachable from the start, and who has waited is told 20 s after writing', async () => {
    const river = await open()
    river.agent.failNext(...many(1_000))
    await river.person('anna').says('hi')
    await river.pass(12_000)
    expect(river.platform.texts('anna')).toEqual([])
    await river.restart()
    expect(await stateOf(river)).toMatchObject({ state: 'unreachable' })
    expect((await river.operator().doctor()).problems).toMatchObject([{ code: 'agent-unreachable' }])
    await river.pass(8_500)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    await river.restart()
    await river.pass(60_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
  })

  it('[I35.left-recalled] one that answers with errors is failing after a kill, also while its next try is far', async () => {
    const river = await open()
    const error = new SwitchboardError('platform_unavailable', 'the agent answered 500', {
      retryAfterMs: 60_000,
    })
    river.agent.failNext(error, error)
    const { id } = await river.person('anna').says('hi')
    await river.pass(3_000)
    expect(await river.operator().turn(id ?? '')).toMatchObject({ state: 'queued', reason: 'agent_failed' })
    await river.restart()
    expect(await stateOf(river)).toMatchObject({ state: 'failing' })
    expect((await river.operator().doctor()).problems).toMatchObject([{ code: 'agent-failing' }])
    await river.pass(18_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' })])
    await river.pass(3 * 60_000)
    expect(river.platform.texts('anna')).toEqual([wordsIn().notices.unreachable({ agent: 'demo' }), 're: hi'])
    expect(await stateOf(river)).toMatchObject({ state: 'attached' })
  })

  it('[I35.left-recalled] one that answers right after the start is well, and nobody hears of the outage', async () => {
    const river = await open()
    river.agent.failNext(refused(), refused())
    await river.person('anna').says('hi')
    await river.pass(1_200)
    await river.restart()
    await river.pass(60_000)
    expect(river.platform.texts('anna')).toEqual(['re: hi'])
    expect(await stateOf(river)).toMatchObject({ state: 'attached' })
  })

  it('[I35.left-recalled] where the turn that told of it is cancelled before a try, nothing is said of the agent any more', async () => {
    const river = await open()
    const error = new SwitchboardError('platform_unavailable', 'the agent answered 500', {
      retryAfterMs: 10 * 60_000,
    })
    river.agent.failNext(error)
    const { id } = await river.person('anna').says('hi')
    await river.pass(1_000)
    await river.restart()
    expect(await stateOf(river)).toMatchObject({ state: 'failing' })
    await river.operator().operateTurn(id ?? '', 'cancel', 'operator')
    await river.pass(31_000)
    expect(await stateOf(river)).toMatchObject({ state: 'attached' })
  })
})
