// The way out: order, retries, what a crash leaves behind, and a door that closes meanwhile.
import { expect, it } from 'vitest'
import { type SendMove, type SendResult, SwitchboardError } from '../../src/contract/index.ts'
import type { SendFault } from '../../src/testing/scripted/scripted-platform.ts'
import { testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver, type River } from './river.ts'

const AWAY: SendFault = { kind: 'unavailable' }
const NOTE = '(may be a duplicate: the first copy was never confirmed)\n\n'

/** An operator's message, told as it stands when nothing moves any more. */
async function send(river: River, text: string, more: object = {}): Promise<SendResult> {
  const ordered = river.operator().order({ to: 'chat:anna', text, wait_ms: 0, ...more }, 'operator')
  await river.settle()
  return ordered
}

/** The same where the gateway dies meanwhile. */
async function sendAndDie(river: River, text: string): Promise<void> {
  void river.operator().order({ to: 'chat:anna', text, wait_ms: 0 }, 'operator')
  await river.settle()
}

describeRiver('sending', (open) => {
  it('[S11.send-retry] what fails for a while is tried again with growing pauses, in order, and says why it waits', async () => {
    const river = await open()
    river.platform.failNext([AWAY, AWAY, AWAY], 'anna')
    await send(river, '1')
    await send(river, '2')
    const times: number[] = []
    for (let tenth = 0; tenth < 120 && times.length < 4; tenth++) {
      await river.pass(100)
      while (times.length < river.platform.attempts.length) times.push(river.now())
      const [second, first] = await river.operator().sends({ limit: 2 })
      if (first?.state === 'queued') expect(first).toMatchObject({ reason: 'platform_unavailable' })
      expect(second?.attempts ?? 0).toBeLessThanOrEqual(first?.state === 'sent' ? 1 : 0)
    }
    const pauses = times.slice(1, 4).map((at, index) => at - (times[index] ?? 0))
    expect(pauses).toHaveLength(3)
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? 0)
    expect(pauses[2]).toBeGreaterThan(pauses[1] ?? 0)
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['1', '2'])
  })

  it('[S11.crash-unknown] what the platform confirmed never ends as failed, whatever becomes of the store', async () => {
    const river = await open({ tunables: { unknownPolicy: 'hold' } })
    river.expectErrors()
    const store = river.store()
    const { moveSends } = store
    let broken = 1
    Object.assign(store, {
      moveSends: async (moves: readonly SendMove[]) => {
        if (moves[0]?.to === 'sent' && broken-- > 0) throw new SwitchboardError('store_corrupt', 'damaged')
        return moveSends(moves)
      },
    })
    await send(river, '1')
    await river.pass(30_000)
    const [row] = await river.operator().sends({ limit: 1 })
    // Unknown where this node sent it; on three nodes another one may have.
    expect(row).toMatchObject(broken > 0 ? { state: 'sent' } : { state: 'unknown', reason: 'unconfirmed' })
    expect(river.platform.texts('anna')).toEqual(['1'])
    await send(river, '2')
    await river.pass(30_000)
    expect(river.platform.texts('anna')).toEqual(['1', '2'])
  })

  it('[S11.send-retry] the platform says when to come back, and is believed', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'busy', retryAfterMs: 45_000 }], 'anna')
    await send(river, '1')
    await river.pass(44_000)
    expect(river.platform.attempts).toHaveLength(1)
    expect((await river.operator().sends({ limit: 1 }))[0]).toMatchObject({ reason: 'platform_busy' })
    await river.pass(2_000)
    expect(river.platform.texts('anna')).toEqual(['1'])
  })

  it('[S11.send-retry] [S2.max-attempts] after send_expiry it is failed, and the next goes on', async () => {
    const river = await open({ tunables: { sendExpiryMs: 60_000 } })
    let away = true
    river.platform.failBy(({ op }) => (away && op.kind === 'text' && op.text === '1' ? AWAY : null))
    await send(river, '1')
    await river.pass(30_000)
    await send(river, '2')
    expect(river.platform.texts('anna')).toEqual([])
    await river.pass(60_000)
    away = false
    expect(river.platform.texts('anna')).toEqual(['2'])
    const failed = await river.operator().sends({ states: ['failed'], limit: 5 })
    expect(failed).toMatchObject([{ reason: 'platform_unavailable', detail: 'the platform is away' }])
  })

  it('[S11.send-rejected] what the platform refuses for good is failed with its words; an operator may try again', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'rejected' }])
    const result = await send(river, '1')
    await river.settle()
    const [row] = await river.operator().sends({ limit: 1 })
    expect(row).toMatchObject({ state: 'failed', reason: 'platform_rejected', detail: 'not_in_channel' })
    await river.operator().operateSend(result.outbox_id ?? '', 'retry', 'operator')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['1'])
    await expect(river.operator().operateSend(result.outbox_id ?? '', 'bury', 'op')).rejects.toMatchObject({
      code: 'conflict',
    })
  })

  it('[S2.platforms-independent] a platform or conversation that hangs delays nobody else', async () => {
    const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
    river.platform.failNext([{ kind: 'hang' }], 'anna')
    for (const who of ['anna', 'bert']) await river.person(who).says('hi')
    await river.person('anna', 'anna', { integration: 'other' }).says('hi')
    await river.person('anna').says('again')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual([])
    expect(river.platform.texts('bert')).toEqual(['re: hi'])
    expect(river.platform.texts('anna', 'other')).toEqual(['re: hi'])
    river.platform.release()
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['re: hi', 're: again'])
  })

  it('[S2.sent-means-confirmed] before the platform confirmed, nothing is called sent', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'hang' }])
    const waiting = river.operator().order({ to: 'chat:anna', text: '1', wait_ms: 5_000 }, 'operator')
    await river.pass(6_000)
    expect(await waiting).toMatchObject({ ok: true, status: 'queued', platform_ids: [] })
    expect((await river.operator().status()).outbox).toMatchObject({ queued: 1, sent: 0 })
    river.platform.release()
    await river.settle()
    expect((await river.operator().status()).outbox).toMatchObject({ queued: 0, sent: 1 })
  })

  it('[S11.crash-idempotent] a crash between send and confirmation: sent again where the platform shows it once', async () => {
    const river = await open({ platform: { abilities: { idempotentSend: true } } })
    river.crashAt('outbox.after-send')
    await sendAndDie(river, '1')
    await river.restart()
    await river.pass(70_000)
    expect(river.platform.attempts).toHaveLength(2)
    expect(river.platform.texts('anna')).toEqual(['1'])
    expect((await river.operator().status()).outbox).toMatchObject({ sent: 1, unknown: 0 })
  })

  it.each([
    ['outbox.before-send', 1],
    ['outbox.after-send', 0],
  ] as const)(
    '[S11.crash-read-back] a crash at %s is settled by asking the platform',
    async (point, sentAgain) => {
      const river = await open({ platform: { reconcile: 'truth' } })
      river.crashAt(point)
      await sendAndDie(river, '1')
      await river.restart()
      await river.pass(70_000)
      expect(river.platform.texts('anna')).toEqual(['1'])
      expect(river.platform.attempts).toHaveLength(1)
      const [row] = await river.operator().sends({ limit: 1 })
      expect(row).toMatchObject({ state: 'sent', attempts: 1 + sentAgain })
      expect(row?.platform_ids).toEqual([river.platform.arrived[0]?.platformId])
    },
  )

  it.each([undefined, 'unknown'] as const)(
    '[S11.crash-unknown] [S11.unknown-note] where nobody can tell (%s), it is sent once more with a note',
    async (reconcile) => {
      const river = await open({ platform: reconcile ? { reconcile } : {} })
      river.crashAt('outbox.after-send')
      await sendAndDie(river, '1')
      await river.restart()
      await river.pass(70_000)
      expect(river.platform.texts('anna')).toEqual(['1', `${NOTE}1`])
      const moves = (await river.operator().ledger(0, 1_000))
        .filter((entry) => entry.kind === 'send')
        .map((entry) => entry.to)
      expect(moves).not.toContain('unknown')
    },
  )

  it('[S11.unknown-note] noted copies that are not confirmed either stay unknown: at most four', async () => {
    const river = await open()
    river.platform.failBy(() => ({ kind: 'unknown', arrived: false }))
    await send(river, '1')
    await river.pass(800_000)
    expect(river.platform.attempts).toHaveLength(5)
    const [row] = await river.operator().sends({ limit: 1 })
    expect(row).toMatchObject({ state: 'unknown', reason: 'unconfirmed' })
    await river.operator().operateSend(row?.id ?? '', 'bury', 'operator')
    expect((await river.operator().send(row?.id ?? ''))?.state).toBe('failed')
  })

  it('[S11.unknown-note] a question that may not have arrived is asked once more, with the note', async () => {
    const access = { ...testIntegration('chat').access, approvers: ['anna'] } as never
    const river = await open({ integrations: [testIntegration('chat', { access })] })
    river.platform.failNext([{ kind: 'unknown', arrived: false }])
    river.agent.script = async (delivery, agent) =>
      void (await agent.ask(delivery, { toolName: 'Bash', description: 'x', input: 'ls' }))
    await river.person('anna').says('go')
    await river.pass(6_000)
    expect(river.platform.texts('anna')[0]).toContain('may be a duplicate')
    await river.person('anna').taps('Allow')
    await river.settle()
    expect(river.agent.verdicts).toHaveLength(1)
  })

  it('[S11.unknown-note] a part that fills the limit still fits with the note', async () => {
    const river = await open({ platform: { textLimit: 1_000 } })
    const words = Array.from({ length: 600 }, (_, at) => String(1_000 + at)).join(' ')
    await send(river, 'warm-up')
    await river.settle()
    river.platform.failNext([{ kind: 'unknown', arrived: false }], 'anna')
    await send(river, words)
    await river.pass(60_000)
    const parts = river.platform.texts('anna').slice(1)
    expect(parts.some((part) => part.startsWith(NOTE))).toBe(true)
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(1_000)
    expect(parts.map((part) => part.replace(NOTE, '')).join(' ')).toBe(words)
  })

  it('[S11.unknown-hold] by policy it is left for the operator, and the next message goes on', async () => {
    const river = await open({ tunables: { unknownPolicy: 'hold' } })
    river.platform.failNext([{ kind: 'unknown', arrived: true }])
    const { outbox_id } = await send(river, '1')
    await send(river, '2')
    await river.pass(60_000)
    expect(river.platform.texts('anna')).toEqual(['1', '2'])
    expect((await river.operator().status()).outbox).toMatchObject({ unknown: 1, sent: 1 })
    await river.operator().operateSend(outbox_id ?? '', 'retry', 'operator')
    await river.settle()
    // The first copy stands there: the second one says that it may be one.
    expect(river.platform.texts('anna')).toEqual(['1', '2', `${NOTE}1`])
  })

  it('[S11.crash-unknown] a crash after the receipt was stored repeats nothing', async () => {
    const river = await open()
    river.crashAt('outbox.after-receipt')
    await sendAndDie(river, '1')
    await river.restart()
    await river.pass(70_000)
    expect(river.platform.texts('anna')).toEqual(['1'])
  })

  it('[S11.idempotency-key] the same key again is the first row, also after a restart', async () => {
    const river = await open()
    const first = await send(river, '1', { idempotency_key: 'k' })
    await river.settle()
    await river.restart()
    await river.pass(70_000)
    const again = await send(river, '1 again', { idempotency_key: 'k' })
    expect(again.outbox_id).toBe(first.outbox_id)
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['1'])
  })

  it('[S11.parts-resume] a long text goes in parts, and resumes at the part that failed', async () => {
    const river = await open({ platform: { textLimit: 20 } })
    const text = 'one two three four five six seven eight nine ten'
    await send(river, 'warm-up')
    await river.settle()
    river.platform.failNext([AWAY], 'anna')
    await send(river, text)
    await river.pass(30_000)
    const [, ...parts] = river.platform.texts('anna')
    expect(parts.length).toBeGreaterThan(2)
    for (const part of parts) expect(part.length).toBeLessThanOrEqual(20)
    expect(parts.join(' ').split(/\s+/)).toEqual(text.split(' '))
    expect(river.platform.attempts).toHaveLength(parts.length + 2)
  })

  it('[S11.parts-resume] when a part is refused the rest waits with it; a retry takes up at that part', async () => {
    const river = await open({ platform: { textLimit: 10 } })
    await send(river, 'first')
    await river.settle()
    river.platform.failNext([{ kind: 'rejected' }], 'anna')
    const { outbox_id } = await send(river, 'aaaaaaaaa bbbbbbbbb ccccccccc')
    await river.settle()
    expect(river.platform.texts('anna')).toEqual(['first'])
    expect(await river.operator().sends({ states: ['failed'], limit: 10 })).toHaveLength(3)
    await river.operator().operateSend(outbox_id ?? '', 'retry', 'operator')
    await river.settle()
    expect(
      river.platform
        .texts('anna')
        .slice(1)
        .map((part) => part.trim()),
    ).toEqual(['aaaaaaaaa', 'bbbbbbbbb', 'ccccccccc'])
  })

  it.each([
    ['removed', 'integration_missing'],
    ['disabled', 'integration_disabled'],
  ])(
    'an integration that is %s by a reload while messages wait: they fail with that reason',
    async (how, reason) => {
      const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
      river.platform.failNext([{ kind: 'unavailable', retryAfterMs: 60_000 }])
      await send(river, '1')
      await send(river, '2')
      await river.settle()
      const closed = how === 'removed' ? [] : [testIntegration('chat', { enabled: false })]
      await river.configure({ integrations: [...closed, testIntegration('other')] })
      await river.pass(70_000)
      expect(river.platform.texts('anna')).toEqual([])
      const rows = await river.operator().sends({ limit: 5 })
      expect(rows.map((row) => [row.state, row.reason])).toEqual([
        ['failed', reason],
        ['failed', reason],
      ])
    },
  )

  it('an integration that is gone from the configuration after a restart: what waits fails, what was under way is unknown', async () => {
    const river = await open({ integrations: [testIntegration('chat'), testIntegration('other')] })
    river.platform.failNext([{ kind: 'unavailable', retryAfterMs: 5_000 }], 'bert')
    await send(river, 'waits', { to: 'chat:bert' })
    river.crashAt('outbox.after-send')
    await sendAndDie(river, 'under way')
    await river.restart({ integrations: [testIntegration('other')] })
    await river.pass(80_000)
    const rows = (await river.operator().sends({ limit: 5 })).toReversed()
    expect(rows.map((row) => [row.state, row.reason])).toEqual([
      ['failed', 'integration_missing'],
      ['unknown', 'unconfirmed'],
    ])
    expect(river.platform.texts('bert')).toEqual([])
  })

  it('an integration that is only restarted by a reload loses nothing that waits', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'unavailable', retryAfterMs: 30_000 }])
    await send(river, '1')
    await river.settle()
    await river.configure({ integrations: [testIntegration('chat', { options: { changed: true } })] })
    await river.pass(31_000)
    expect(river.platform.texts('anna')).toEqual(['1'])
  })

  it('[S11.one-outlet] replies, notices, pairing codes and operator sends are all rows of one outbox', async () => {
    const access = { ...testIntegration('chat').access, dm: 'pairing', allowFrom: ['anna'] } as never
    const river = await open({ integrations: [testIntegration('chat', { access })] })
    await river.person('anna').says('hi')
    await river.person('anna').says('/status')
    await river.person('mallory').says('hi')
    await send(river, 'from the operator')
    await river.settle()
    const causes = (await river.operator().sends({ limit: 10 })).map((row) => row.cause)
    expect(causes.toSorted()).toEqual(['notice', 'operator', 'pairing', 'reply'])
    expect(river.platform.arrived).toHaveLength(4)
  })

  it('a stop does not wait for ever for a platform that hangs; what hung is settled after the restart', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'hang', arrived: true }])
    await send(river, '1')
    await river.settle()
    let stopped = false
    const stopping = river
      .gateway()
      .stop()
      .then(() => {
        stopped = true
      })
    await river.pass(11_000)
    expect(stopped).toBe(true)
    await stopping
    await river.restart()
    await river.pass(70_000)
    expect(river.platform.texts('anna')).toEqual(['1', `${NOTE}1`])
  })

  it('a database that is away between two messages of a conversation does not strand the second', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'hang' }], 'anna')
    await send(river, '1')
    await send(river, '2')
    await river.settle()
    river.storeAway('takeSends', 2)
    river.platform.release()
    await river.pass(20_000)
    expect(river.platform.texts('anna')).toEqual(['1', '2'])
  })

  it('[I35.left-outbox-reason] what waits while the platform is away says why: the one that is tried, and those behind it', async () => {
    const river = await open()
    river.platform.failNext(Array<SendFault>(1_000).fill({ kind: 'unavailable' }), 'anna')
    await send(river, '1')
    await send(river, '2')
    await send(river, 'elsewhere', { to: 'chat:bert' })
    await river.pass(20_000)
    const [, second, first] = await river.operator().sends({ limit: 3 })
    expect(first).toMatchObject({
      state: 'queued',
      reason: 'platform_unavailable',
      detail: 'the platform is away',
    })
    expect(first?.attempts).toBeGreaterThan(2)
    const why = { reason: 'platform_unavailable', detail: `waits behind ${first?.id}: the platform is away` }
    expect(second).toMatchObject({ state: 'queued', attempts: 0, ...why })
    expect(await river.operator().send(second?.id ?? '')).toMatchObject(why)
    expect((await river.operator().sends({ limit: 1 }))[0]).toMatchObject({
      state: 'sent',
      reason: null,
      detail: null,
    })
  })

  it('[I35.left-outbox-reason] a try that is under way shows why the one before it failed', async () => {
    const river = await open()
    river.platform.failNext([{ kind: 'unavailable' }, { kind: 'hang' }], 'anna')
    await send(river, '1')
    await river.pass(20_000)
    expect((await river.operator().sends({ limit: 1 }))[0]).toMatchObject({
      ...{ state: 'queued', reason: 'platform_unavailable', detail: 'the platform is away', attempts: 2 },
    })
    river.platform.release()
  })
})
