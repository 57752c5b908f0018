// Completeness: what stands in a platform's history and was not received is found, once, and told as late.
import { expect, it } from 'vitest'
import { OPEN, testIntegration } from '../../src/testing/test-settings.ts'
import { CHAT } from './asking.ts'
import { complete, counter, later, MINUTE, withHistory } from './completeness-river.ts'
import { describeRiver } from './river.ts'

describeRiver('completeness', (open) => {
  it('[I15.deaf-link] [I15.renewed] [I15.late-counted] a deaf link with 50 messages in between loses none, and none is seen twice', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'before')
    await later(river, 5)
    history.deafen()
    for (let n = 0; n < 50; n++) await history.says(n % 2 ? 'anna' : 'bert', n % 2 ? 'anna' : 'bert', `m${n}`)
    await later(river, 12)
    expect(history.renewals).toHaveLength(1)
    expect(history.isDeaf()).toBe(false)
    await history.says('anna', 'anna', 'after')
    await later(river, 12)
    const texts = river.agent.texts()
    expect(texts.toSorted()).toEqual(
      ['before', 'after', ...Array.from({ length: 50 }, (_, n) => `m${n}`)].toSorted(),
    )
    const anna = texts.filter((text) => Number(text.slice(1)) % 2 === 1)
    expect(anna).toEqual(Array.from({ length: 25 }, (_, n) => `m${2 * n + 1}`))
    expect(await counter(river, 'found:late')).toBe(50)
    expect(history.renewals).toHaveLength(1)
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.quiet] a link over which nobody speaks is not renewed', async () => {
    const { river, history } = await withHistory(open, { platform: { probes: true } })
    await history.says('anna', 'anna', 'hello')
    await later(river, 65)
    expect(history.renewals).toEqual([])
    expect(river.agent.texts()).toEqual(['hello'])
  })

  it('[I15.probe] a link whose probe finds it deaf is renewed, though nothing was missed', async () => {
    const { river, history } = await withHistory(open, { platform: { probes: true } })
    await later(river, 1)
    history.deafen()
    await later(river, 6)
    expect(history.renewals).toHaveLength(1)
    expect(history.isDeaf()).toBe(false)
  })

  it('[I15.after-connect] [I15.late-marked] what was said while there was no link comes after the next connect, marked late', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    const saidAt = river.now()
    await history.says('anna', 'anna', 'are you there?')
    await later(river, 2)
    expect(river.agent.texts()).toEqual([])
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual(['are you there?'])
    const [delivery] = river.agent.deliveries
    expect(delivery?.meta).toMatchObject({ late: 'true', ts: new Date(saidAt).toISOString() })
    const [turn] = await river.operator().turns({ limit: 1 })
    expect(turn).toMatchObject({ late: true, state: 'answered' })
    expect(history.renewals).toEqual([])
  })

  it('[I15.after-connect] [I15.mark-with-message] what was said while the gateway was down comes once, also after the next restart', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'one')
    await later(river, 5)
    history.disconnect()
    await history.says('anna', 'anna', 'two')
    await later(river, 2)
    await river.restart()
    await river.settle()
    await river.restart()
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['one', 'two'])
  })

  it('[I15.grace] [I15.background] what is younger than a minute and was said over this connection is not missed yet', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.connect()
    await river.pass(45_000)
    history.deafen()
    await history.says('anna', 'anna', 'just now')
    // The look behind the connect comes in between.
    await river.pass(40_000)
    expect(river.agent.texts()).toEqual([])
    expect(history.renewals).toEqual([])
    expect(await complete(river)).toMatchObject({ state: 'complete' })
    await later(river, 12)
    expect(river.agent.texts()).toEqual(['just now'])
    expect(history.renewals).toHaveLength(1)
  })

  it('[I35.b12a] what was said while the link changed hands comes at once, and before what the new link brings', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'zero')
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'one')
    await river.pass(1_000)
    history.connect()
    const live = [history.says('anna', 'anna', 'two'), history.says('anna', 'anna', 'three')]
    await river.settle()
    await Promise.all(live)
    expect(river.agent.texts()).toEqual(['zero', 'one', 'two', 'three'])
    const late = new Map(river.agent.deliveries.map(({ text, meta }) => [text, meta.late]))
    expect([late.get('one'), late.get('two'), late.get('three')]).toEqual(['true', undefined, undefined])
    expect(history.renewals).toEqual([])
    await later(river, 15)
    expect(river.agent.texts()).toHaveLength(4)
    expect(history.renewals).toEqual([])
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I35.b12a] it comes at once where nobody says anything more, too', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'zero')
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'one')
    await river.pass(1_000)
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual(['zero', 'one'])
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['zero', 'one'])
  })

  it('[I35.b12a] only the place that is not looked at yet waits, and 30 seconds at most', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'a0')
    await history.says('bert', 'bert', 'b0')
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'a1')
    await river.pass(1_000)
    history.failAlways({ kind: 'hang' }, 'anna')
    history.connect()
    const waits = history.says('anna', 'anna', 'a2')
    await history.says('bert', 'bert', 'b1')
    await river.settle()
    expect(river.agent.texts().toSorted()).toEqual(['a0', 'b0', 'b1'])
    await river.pass(31_000)
    await waits
    expect(river.agent.texts().toSorted()).toEqual(['a0', 'a2', 'b0', 'b1'])
    history.failAlways(null, 'anna')
    await later(river, 15)
    expect(river.agent.texts().toSorted()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1'])
  })

  it('[I35.b12a] a platform whose clock is ahead of ours changes no order either', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'zero')
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'one', { at: river.now() + 2_000 })
    await river.pass(100)
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual(['zero'])
    const live = history.says('anna', 'anna', 'two', { at: river.now() + 2_100 })
    await river.settle()
    await live
    expect(river.agent.texts()).toEqual(['zero', 'one', 'two'])
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['zero', 'one', 'two'])
  })

  it('[I15.first-connect] what stood there before the first connect, or before we joined, is nobody’s business', async () => {
    const { river, history } = await withHistory(open)
    history.deafen()
    await history.says('anna', 'anna', 'ancient', { at: river.now() - MINUTE })
    await later(river, 10)
    await history.says('room', 'anna', 'before we joined')
    await later(river, 1)
    const joinedAt = river.now()
    await history.says('room', 'anna', 'after we joined')
    history.list([{ id: 'anna' }, { id: 'room', since: joinedAt }])
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['after we joined'])
  })

  it('[I15.live-moves-no-mark] [I15.before-the-mark] the live link moves no mark, and brings what lies before one', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.deafen()
    await history.says('anna', 'anna', 'missed')
    history.connect()
    await history.says('anna', 'anna', 'heard')
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['missed', 'heard'])
    // A message that reached the platform's history late, with a time before the mark.
    const at = river.now() - 14 * MINUTE
    await history.says('anna', 'anna', 'straggler', { at })
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['missed', 'heard', 'straggler'])
  })

  it('[I15.mark-with-message] a kill before and behind the commit of a mark loses nothing and repeats nothing', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'zero')
    await later(river, 5)
    history.disconnect()
    history.pageSize(2)
    for (const text of ['one', 'two', 'three', 'four', 'five']) await history.says('anna', 'anna', text)
    await later(river, 2)
    river.storeAway('receive', 1)
    history.connect()
    await river.settle()
    river.loseAnswer('receive', 1)
    await river.restart()
    await later(river, 5)
    await river.restart()
    await later(river, 15)
    expect(river.agent.texts().toSorted()).toEqual(['five', 'four', 'one', 'three', 'two', 'zero'])
  })

  it('[I15.late-edit] an unknown message has its present text, a known one is an edit, once', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'known', { messageId: 'k' })
    await river.settle()
    history.deafen()
    await history.says('anna', 'anna', 'unknown', { messageId: 'u' })
    await history.edits('u', 'unknown, put right')
    await history.edits('k', 'known, put right')
    await later(river, 15)
    history.connect()
    await later(river, 15)
    expect(river.agent.deliveries.map(({ text, meta }) => [text, meta.edited ?? 'no'])).toEqual([
      ['known', 'no'],
      ['known, put right', 'true'],
      ['unknown, put right', 'no'],
    ])
  })

  it('[I15.late-command] [I15.late-expired] a late command does nothing, and what is older than the queue keeps is expired', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', '/new')
    await history.says('anna', 'anna', 'a week ago')
    await river.sleep(8 * 24 * 60 * MINUTE)
    await history.says('anna', 'anna', '/status')
    await later(river, 2)
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual([])
    expect(river.platform.texts('anna')).toEqual([])
    const turns = await river.operator().turns({ limit: 10 })
    expect(turns.map(({ state, reason }) => `${state}: ${reason}`).toSorted()).toEqual([
      'consumed: late',
      'consumed: late',
      'expired: queue_expired',
    ])
  })

  it('[I15.late-no-limit] [I15.dropped-stays] what was missed draws no limit; what a limit dropped stays dropped', async () => {
    const tunables = { senderLimit: { rps: 0.001, burst: 2 } }
    const { river, history } = await withHistory(open, { tunables })
    await later(river, 2)
    for (let n = 0; n < 5; n++) await history.says('anna', 'anna', `live ${n}`)
    await river.settle()
    expect(river.agent.texts()).toEqual(['live 0', 'live 1'])
    history.disconnect()
    for (let n = 0; n < 5; n++) await history.says('bert', 'bert', `missed ${n}`)
    await later(river, 2)
    history.connect()
    await later(river, 15)
    expect(river.agent.texts()).toEqual(['live 0', 'live 1', ...[0, 1, 2, 3, 4].map((n) => `missed ${n}`)])
    expect(await counter(river, 'found:late')).toBe(5)
  })

  it('[I15.late-gated] what was missed is gated as of now', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    await history.says('anna', 'anna', 'let me in')
    await later(river, 2)
    const access = { ...OPEN, dm: 'allowlist' as const, allowFrom: ['bert'] }
    await river.configure({ integrations: [testIntegration('chat', { access })] })
    history.connect()
    await later(river, 2)
    expect(river.agent.texts()).toEqual([])
    const [turn] = await river.operator().turns({ limit: 1 })
    expect(turn).toMatchObject({ state: 'refused', reason: 'sender_not_allowed', late: true })
  })

  it('[I15.late-verdict] a late verdict counts while its approval is pending', async () => {
    const { river, history } = await withHistory(open, { integrations: [CHAT] })
    river.agent.script = async (delivery, agent) => {
      if (delivery.text === 'go')
        await agent.ask(delivery, { toolName: 'Bash', description: 'list', input: 'ls', requestId: 'abcde' })
    }
    await history.says('anna', 'anna', 'go')
    await river.settle()
    history.disconnect()
    await history.says('anna', 'anna', 'yes abcde')
    await later(river, 2)
    history.connect()
    await river.settle()
    expect(river.agent.verdicts).toMatchObject([{ approval: 'abcde', behavior: 'allow' }])
    expect(river.agent.texts()).toEqual(['go'])
  })

  it('[I15.threads] threads and chats that the platform does not list are compared where something was said lately', async () => {
    const { river, history } = await withHistory(open)
    await history.says('room', 'anna', 'in a thread', { thread: 't1' })
    history.list([])
    await river.settle()
    history.disconnect()
    await history.says('room', 'anna', 'a reply', { thread: 't1' })
    await later(river, 2)
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual(['in a thread', 'a reply'])
  })

  it('[I15.place-gone] [I15.place-forbidden] a place that is gone is forgotten; one that may not be read leaves us behind, and says why', async () => {
    const { river, history } = await withHistory(open)
    await history.says('anna', 'anna', 'hello')
    await history.says('room', 'bert', 'hello')
    await later(river, 12)
    const before = await complete(river)
    expect(before).toMatchObject({ state: 'complete' })
    history.failAlways({ kind: 'gone', detail: 'archived' }, 'anna')
    await later(river, 12)
    expect(await complete(river)).toMatchObject({ state: 'complete' })
    expect(await river.store().historyMarks('chat', ['anna', 'room'])).toHaveLength(1)
    history.failAlways({ kind: 'forbidden', detail: 'add the scope channels:history' }, 'room')
    await later(river, 12)
    const after = await complete(river)
    expect(after).toMatchObject({ state: 'behind', detail: 'room: add the scope channels:history' })
    history.failAlways(null, 'room')
    await later(river, 12)
    expect(await complete(river)).toMatchObject({ state: 'complete' })
    expect(river.agent.texts()).toEqual(['hello', 'hello'])
  })

  it('[I15.reader-lies] a history that repeats itself or hangs is a fault, and nothing is taken twice', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    for (const text of ['one', 'two', 'three']) await history.says('anna', 'anna', text)
    await history.says('bert', 'bert', 'from the future', { at: river.now() + 24 * 60 * MINUTE })
    await later(river, 2)
    history.pageSize(2)
    history.failAlways({ kind: 'repeats' }, 'anna')
    history.failReads([{ kind: 'hang' }], 'bert')
    history.connect()
    await later(river, 5)
    expect(await complete(river)).toMatchObject({ state: 'behind' })
    expect(history.reads.length).toBeLessThan(60)
    history.failAlways(null, 'anna')
    await later(river, 15)
    expect(river.agent.texts().toSorted()).toEqual(['from the future', 'one', 'three', 'two'])
    expect(await complete(river)).toMatchObject({ state: 'complete' })
  })

  it('[I15.reader-busy] a platform that asks to wait is waited for, and the walk goes on where it was', async () => {
    const { river, history } = await withHistory(open)
    await later(river, 2)
    history.disconnect()
    for (let n = 0; n < 6; n++) await history.says('anna', 'anna', `m${n}`)
    await later(river, 2)
    history.pageSize(2)
    history.failReads([{ kind: 'busy', retryAfterMs: 30_000 }, { kind: 'unavailable' }], 'anna')
    history.connect()
    await river.settle()
    expect(river.agent.texts()).toEqual([])
    await later(river, 1)
    expect(river.agent.texts()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5'])
  })
})

describeRiver(
  'completeness of many places',
  (open) => {
    it('[I15.many-places] 10,000 places are compared, and only those where something was said are read again', async () => {
      const { river, history } = await withHistory(open)
      await later(river, 2)
      history.disconnect()
      const saidAt = river.now()
      const places = Array.from({ length: 10_000 }, (_, n) => ({ id: `c${n}`, activeAt: saidAt }))
      history.list(places)
      for (let n = 0; n < 10_000; n += 100) await history.says(`c${n}`, 'anna', `in c${n}`)
      await later(river, 2)
      history.connect()
      await river.settle()
      expect(new Set(river.agent.texts()).size).toBe(100)
      expect(river.agent.texts()).toHaveLength(100)
      expect(await complete(river)).toMatchObject({ state: 'complete' })
      expect(history.reads.length).toBeGreaterThanOrEqual(10_000)
      await later(river, 8)
      const before = history.reads.length
      history.connect()
      await river.settle()
      // The hundred in which the river itself knows of something are named by it, and read.
      expect(history.reads.length - before).toBeLessThanOrEqual(100)
    })
  },
  ['memory'],
)
