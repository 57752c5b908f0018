// Completeness under attack: floods, clocks that are wrong, histories that fail half-way or have forgotten, people whose rights
// changed meanwhile. Nothing is missed, nothing comes twice, and what cannot be told is told.
import { expect, it } from 'vitest'
import { completeText } from '../../src/cli/output/complete.ts'
import { createMetrics } from '../../src/server/metrics.ts'
import { createScriptedHistory } from '../../src/testing/scripted/scripted-history.ts'
import { OPEN, testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { complete, counter, later, MINUTE, withHistory } from './completeness-river.ts'
import { describeRiver } from './river.ts'

const DAY = 24 * 60 * MINUTE

describeRiver('completeness under attack', (open) => {
  it('[I15.fails-half-way] a read that fails half-way (429, 500, no answer) or a place that goes meanwhile loses none of the others', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    history.pageSize(7)
    for (let n = 0; n < 50; n++) await history.says(n % 5 === 0 ? 'gone' : 'anna', 'anna', `m${n}`)
    await later(river, 2)
    const none = { kind: 'none' as const }
    history.failReads([none], 'gone')
    history.failAlways({ kind: 'gone', detail: 'archived' }, 'gone')
    history.failReads(
      [none, { kind: 'busy', retryAfterMs: 40_000 }, none, { kind: 'unavailable' }, none, { kind: 'hang' }],
      'anna',
    )
    history.connect()
    await river.settle()
    expect(await complete(river)).toMatchObject({ state: 'behind' })
    await river.pass(4 * MINUTE)
    const anna = Array.from({ length: 50 }, (_, n) => n).filter((n) => n % 5 !== 0)
    const gone = [0, 5, 10, 15, 20, 25, 30]
    expect(river.agent.texts().toSorted()).toEqual([...anna, ...gone].map((n) => `m${n}`).toSorted())
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.mark-with-message] a kill right before or behind the commit of a mark skips nothing and doubles nothing', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.pageSize(2)
    const said: string[] = []
    for (const point of ['history.before-mark', 'history.after-mark'])
      for (const nth of [1, 3]) {
        history.disconnect()
        for (let n = 0; n < 5; n++) {
          const text = `${point} ${nth} ${n}`
          said.push(text)
          await history.says('anna', 'anna', text)
        }
        await later(river, 2)
        river.crashAt(point, nth)
        history.connect()
        await river.settle()
        expect(river.dead()).toBe(true)
        await river.restart()
        await later(river, 2)
      }
    await later(river, 12)
    expect(said).toHaveLength(20)
    expect(river.agent.texts().toSorted()).toEqual(said.toSorted())
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.first-connect] a place that we join later brings nothing that was said before, though nobody tells when we joined', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'hello')
    history.list([{ id: 'anna' }])
    await later(river, 2)
    history.deafen()
    await history.says('room', 'bert', 'before we joined')
    await history.says('room', 'bert', 'a reply before we joined', { thread: 't1' })
    await later(river, 12)
    await later(river, 12)
    // We are invited, and may not read it at first.
    history.list([{ id: 'anna' }, { id: 'room' }])
    history.failAlways({ kind: 'forbidden', detail: 'add the scope' }, 'room')
    await later(river, 12)
    await history.says('room', 'bert', 'after we joined')
    await later(river, 30)
    history.failAlways(null, 'room')
    await later(river, 12)
    history.connect()
    await history.says('room', 'bert', 'in the thread', { thread: 't1' })
    await later(river, 30)
    expect(river.agent.texts()).toEqual(['hello', 'after we joined', 'in the thread'])
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.live-first] while a walk waits for its platform, what the live link brings is handed over at once', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'missed')
    await later(river, 2)
    history.failAlways({ kind: 'busy', retryAfterMs: 9 * MINUTE })
    history.connect()
    await river.settle()
    await history.says('anna', 'anna', 'live')
    await river.settle()
    expect(river.agent.texts()).toEqual(['live'])
    expect(await complete(river)).toMatchObject({ state: 'behind' })
    history.failAlways(null)
    await later(river, 11)
    expect(river.agent.texts()).toEqual(['live', 'missed'])
  })

  it.each(['runs', 'is down'])(
    '[I15.clock-back] a clock that is set back by a day while the gateway %s delays no comparison, and the link is renewed',
    async (when) => {
      // The platform's clock is right all the time; ours is a day ahead at first.
      let now = () => 1_700_000_000_000
      const history = createScriptedHistory(() => now() - DAY)
      const river = await open({ platform: { history } })
      now = () => river.now()
      await history.says('anna', 'anna', 'before')
      await later(river, 12)
      history.deafen()
      await later(river, 10)
      expect(await complete(river)).toMatchObject({ state: 'complete' })
      river.setBack(DAY)
      if (when === 'is down') {
        await history.says('anna', 'anna', 'while it was down')
        await river.restart()
      }
      await history.says('anna', 'anna', 'missed')
      await later(river, 12)
      await later(river, 12)
      expect(river.agent.texts().filter((text) => text === 'missed')).toHaveLength(1)
      expect(history.isDeaf()).toBe(false)
      const { until } = (await complete(river)) ?? {}
      expect(Date.parse(until ?? '')).toBeLessThanOrEqual(river.now() - DAY)
    },
  )

  it('[I15.dropped-stays] what a limit dropped in a thread that nobody knew of is not found as missed when the thread is', async () => {
    const { river, history } = await withHistory(open, {
      tunables: { senderLimit: { rps: 0.0001, burst: 1 } },
    })
    history.list([])
    await later(river, 2)
    await history.says('room', 'anna', 'first')
    await history.says('room', 'anna', 'told off', { thread: 'elsewhere' })
    for (const n of [1, 2, 3]) await history.says('room', 'anna', `dropped ${n}`, { thread: 't1' })
    await later(river, 12)
    await later(river, 12)
    await river.sleep(DAY)
    await history.says('room', 'bert', 'hello', { thread: 't1' })
    await later(river, 12)
    expect(river.agent.texts()).toEqual(['first', 'hello'])
    expect(await counter(river, 'found:late')).toBe(0)
  })

  it('[I15.retention] rows that were pruned are not found as missed when their place is lost and comes back', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'long ago')
    await later(river, 12)
    await river.sleep(40 * DAY)
    await later(river, 12)
    expect(await river.store().pruneRows(DAY, 100)).toBeGreaterThan(0)
    history.failAlways({ kind: 'gone', detail: 'not in it' }, 'anna')
    await later(river, 12)
    expect(await river.store().historyMarks('chat', ['anna'])).toEqual([])
    history.failAlways(null, 'anna')
    await later(river, 12)
    expect(river.agent.texts()).toEqual(['long ago'])
    expect(await counter(river, 'found:late')).toBe(0)
    const turns = await river.operator().turns({ limit: 10 })
    expect(turns).toEqual([])
  })

  it('[I15.forgotten-told] what the platform has forgotten meanwhile is in the ledger with its span, once', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'hello')
    await later(river, 12)
    history.disconnect()
    history.failAlways({ kind: 'unavailable' })
    await history.says('anna', 'anna', 'forgotten')
    await river.sleep(3 * DAY)
    history.forgetBefore(river.now() - DAY)
    history.failAlways(null)
    await history.says('anna', 'anna', 'kept', { at: river.now() - 2 * MINUTE })
    history.connect()
    await later(river, 12)
    await later(river, 12)
    const ledger = await river.store().ledger({ afterSeq: 0, limit: 500 })
    const told = ledger.filter(({ ref }) => ref === 'history:chat')
    expect(told).toHaveLength(1)
    expect(JSON.stringify(told[0])).toMatch(/anna/)
    expect(river.agent.texts()).toEqual(['hello', 'kept'])
  })

  it('[I15.late-gated] strangers who were missed get no more codes than if they had been heard, and no agent', async () => {
    const access = { ...OPEN, dm: 'pairing' as const }
    const { river, history } = await withHistory(open, {
      integrations: [testIntegration('chat', { access })],
    })
    await later(river, 2)
    for (let n = 0; n < 20; n++) await history.says('live', 'live', `let me in ${n}`)
    await river.settle()
    const heard = river.platform.texts('live').length
    history.disconnect()
    for (let n = 0; n < 20; n++) await history.says('eve', 'eve', `let me in ${n}`)
    await later(river, 2)
    history.connect()
    await later(river, 2)
    expect(river.agent.texts()).toEqual([])
    expect(heard).toBeGreaterThan(0)
    expect(river.platform.texts('eve').length).toBeLessThanOrEqual(heard)
  })

  it('[I15.late-gated] whose right to speak was taken back between the saying and the finding is refused', async () => {
    const access = { ...OPEN, dm: 'pairing' as const }
    const { river, history } = await withHistory(open, {
      integrations: [testIntegration('chat', { access })],
    })
    await later(river, 2)
    await river.operator().grant('chat', 'anna', 'talk', 'operator')
    // The other nodes hear of it, as they do of its end below.
    await river.settle()
    await history.says('anna', 'anna', 'one')
    await river.settle()
    history.disconnect()
    await history.says('anna', 'anna', 'two')
    await later(river, 2)
    await river.operator().revoke('chat', 'anna', 'talk', 'operator')
    await river.settle()
    history.connect()
    await later(river, 2)
    expect(river.agent.texts()).toEqual(['one'])
    const [turn] = await river.operator().turns({ limit: 1 })
    expect(turn).toMatchObject({ state: 'refused', late: true })
  })

  it('[I15.one-walks] however many nodes could, one of them compares', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'hello')
    await later(river, 12)
    const before = history.listings.length
    for (let walks = 0; walks < 6; walks++) await later(river, 10)
    const walked = history.listings.length - before
    expect(walked).toBeGreaterThanOrEqual(5)
    expect(walked).toBeLessThanOrEqual(7)
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.status] status, doctor and metrics say of each integration the same: complete until T, behind, or cannot be checked', async () => {
    let now = () => 1_700_000_000_000
    const history = createScriptedHistory(() => now())
    const river = await open({
      integrations: [testIntegration('chat'), testIntegration('plain')],
      platform: { perIntegration: { chat: { history } } },
    })
    now = () => river.now()
    const completeness = async () => {
      const { integrations } = await river.operator().status()
      const doctor = await river.operator().doctor()
      const metrics = createMetrics({ status: river.operator().status }, new Map())
      const text = String((await metrics.reply()).body)
      metrics.stop()
      return integrations.map(({ id, complete: said }) => {
        const other = doctor.integrations.find((one) => one.id === id)?.complete
        expect(other).toMatchObject(said)
        for (const state of ['complete', 'behind', 'unchecked'])
          expect(text).toMatch(
            new RegExp(`switchboard_complete{.*"${id}".*"${state}"} ${said.state === state ? 1 : 0}\n`),
          )
        const until = new RegExp(`switchboard_complete_until_seconds{.*"${id}".*} (\\S+)`).exec(text)?.[1]
        const time = said.until === null ? undefined : String(Date.parse(said.until) / 1_000)
        expect(until).toBe(time)
        return completeText(said)
      })
    }
    await later(river, 2)
    history.list([{ id: 'anna' }])
    history.failAlways({ kind: 'hang' })
    history.connect()
    await river.settle()
    expect((await completeness())[0]).toMatch(/^behind/)
    history.failAlways(null)
    await later(river, 2)
    await later(river, 2)
    const [until, plain] = await completeness()
    expect(plain).toBe('cannot be checked')
    const time = /^complete until (.*)$/.exec(until ?? '')?.[1]
    expect(river.now() - Date.parse(time ?? '')).toBeLessThan(6 * MINUTE)
    await history.says('anna', 'anna', 'hello')
    history.failAlways({ kind: 'forbidden', detail: 'add the scope im:history' }, 'anna')
    await later(river, 12)
    expect((await completeness())[0]).toMatch(/^behind since .*: anna: add the scope im:history$/)
    // Nobody has looked for long: that is not complete either.
    history.failAlways({ kind: 'hang' })
    await later(river, 45)
    expect((await completeness())[0]).toMatch(/^behind/)
    history.failAlways(null)
  })

  it('[I15.erased-stays] a person who was erased is not found as missed, though the history still has the words', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'my secret', { messageId: 'm1' })
    await later(river, 12)
    await river.operator().erasePerson('chat:anna', { revoke: false }, 'operator')
    await river.store().forgetPlace('chat', 'anna')
    await later(river, 12)
    expect(river.agent.texts()).toEqual(['my secret'])
    expect(await counter(river, 'found:late')).toBe(0)
    expect(JSON.stringify(await river.store().turns({ limit: 10 }))).not.toContain('my secret')
  })

  it('[I15.late-edit] a message that was answered and is edited while nobody hears is one more edit, and no second answer to the old words', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'two eggs', { messageId: 'm1' })
    await river.settle()
    history.disconnect()
    await history.edits('m1', 'three eggs')
    await history.edits('m1', 'four eggs')
    await later(river, 2)
    history.connect()
    await later(river, 2)
    history.connect()
    await later(river, 12)
    await river.restart()
    await later(river, 12)
    const seen = river.agent.deliveries.map(({ text, meta }) => [text, meta.edited, meta.late])
    expect(seen).toEqual([
      ['two eggs', undefined, undefined],
      ['four eggs', 'true', 'true'],
    ])
    expect(river.platform.texts('anna')).toEqual(['re: two eggs', 're: four eggs'])
  })

  it('[I15.two-of-one] two integrations of one workspace are compared each by itself', async () => {
    let now = () => 1_700_000_000_000
    const left = createScriptedHistory(() => now())
    const right = createScriptedHistory(() => now())
    const river = await open({
      integrations: [testIntegration('left'), testIntegration('right')],
      agents: [testAgent('one', ['left']), testAgent('two', ['right'])],
      platform: { perIntegration: { left: { history: left }, right: { history: right } } },
    })
    now = () => river.now()
    await later(river, 2)
    left.deafen()
    for (const history of [left, right])
      for (let n = 0; n < 5; n++) await history.says('room', 'anna', `m${n}`, { messageId: `same-${n}` })
    await later(river, 12)
    const words = ['m0', 'm1', 'm2', 'm3', 'm4']
    expect(river.agentNamed('one').texts()).toEqual(words)
    expect(river.agentNamed('two').texts()).toEqual(words)
    expect([left.renewals.length, right.renewals.length]).toEqual([1, 0])
    expect([await counter(river, 'found:late', 'left'), await counter(river, 'found:late', 'right')]).toEqual(
      [5, 0],
    )
    expect(await complete(river, 'right')).toMatchObject({ state: 'complete' })
  })
})

describeRiver(
  'completeness under a flood',
  (open) => {
    it('[I15.threads] thousands of messages in one chat do not push a thread out of sight', async () => {
      const { river, history } = await withHistory(open, {
        tunables: { senderLimit: { rps: 1_000, burst: 10_000 }, floodLimit: { rps: 1_000, burst: 10_000 } },
      })
      river.agent.script = () => undefined
      history.list([{ id: 'busy' }])
      await history.says('room', 'anna', 'in a thread', { thread: 't1' })
      await later(river, 12)
      for (let n = 0; n < 2_100; n++) await history.says('busy', 'mallory', `flood ${n}`)
      await river.settle()
      history.disconnect()
      await history.says('room', 'anna', 'a reply', { thread: 't1' })
      await later(river, 2)
      history.connect()
      await river.settle()
      const turns = await river.store().turns({ integration: 'chat', conversation: 'room', limit: 10 })
      expect(turns.map((turn) => turn.body?.text)).toEqual(['a reply', 'in a thread'])
    })
  },
  ['memory'],
)
