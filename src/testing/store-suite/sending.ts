// Store suite: truthful sending. Equal content, the notification log, schedules.
import { describe, expect, it } from 'vitest'
import type { NewNotification, SendMove } from '../../contract/index.ts'
import { counts, item, type MakeStoreFixture, mustTakeSend, openBeforeEach, send } from './fixture.ts'

const LANE = 'demo:c1'
export function describeSending(make: MakeStoreFixture): void {
  describe('sending', () => {
    const { fixture, store } = openBeforeEach(make)

    const keyed = (dedupKey = 'k', more: Parameters<typeof send>[0] = {}) =>
      send({ cause: 'send_message', dedupKey, ...more })
    const enqueueOne = async (one = keyed()) => {
      const [queued] = await store.enqueue([one])
      if (!queued) throw new Error('nothing was enqueued')
      return queued
    }
    /** Sends the next item of the lane and settles it as a platform would. */
    const settleNext = async (to: SendMove['to'], rest: Partial<SendMove> = {}) => {
      const { token, sending } = await mustTakeSend(store, { lane: LANE })
      if (!sending) throw new Error('nothing to send')
      await store.moveSends([{ lane: LANE, token, id: sending.id, to, ...rest }])
      await store.releaseLanes('sends', [{ lane: LANE, token }])
      return sending
    }

    describe('equal content', () => {
      it('[S11.in-flight-one] [F7.send-concurrent] identical sends on their way become one', async () => {
        const first = await enqueueOne()
        expect(await enqueueOne()).toEqual({ ...first, repeated: true })
        const { token, sending } = await mustTakeSend(store, { lane: LANE })
        expect(sending?.id).toBe(first.id)
        expect(await enqueueOne()).toMatchObject({ id: first.id, state: 'sending', repeated: true })
        await store.moveSends([{ lane: LANE, token, id: first.id, to: 'sent', platformIds: ['p1'] }])
        expect(await counts(store)).toEqual({ 'send:sent': 1 })
      })

      it('two at once in one commit, and from two nodes, become one', async () => {
        const other = await fixture.open('two')
        const all = await Promise.all([
          store.enqueue([keyed(), keyed()]),
          other.enqueue([keyed()]),
          store.enqueue([keyed()]),
        ])
        expect(new Set(all.flat().map((one) => one.id)).size).toBe(1)
        expect(await counts(store)).toEqual({ 'send:queued': 1 })
      })

      it('[F7.send-dedup-boundary] [S11.dedup-on-confirm] counts 30 s from the confirmation, to the millisecond', async () => {
        const first = await enqueueOne()
        await fixture.clock.advance(20_000)
        await settleNext('sent', { platformIds: ['p1'] })
        await fixture.clock.advance(30_000)
        const second = await enqueueOne()
        expect(second).toMatchObject({ state: 'deduplicated', repeated: false, first: first.id })
        expect(await store.send(second.id)).toMatchObject({
          state: 'deduplicated',
          reason: 'duplicate',
          detail: first.id,
          platformIds: ['p1'],
        })
        expect(await store.findWork('sends', ['demo'], { limit: 5 })).toEqual([])
        await fixture.clock.advance(1)
        expect(await enqueueOne()).toMatchObject({ state: 'queued', repeated: false })
        expect(await counts(store)).toEqual({
          'send:sent': 1,
          'send:deduplicated:duplicate': 1,
          'send:queued': 1,
        })
      })

      it('a deduplicated row does not make the time longer', async () => {
        await enqueueOne()
        await settleNext('sent')
        await fixture.clock.advance(20_000)
        expect((await enqueueOne()).state).toBe('deduplicated')
        await fixture.clock.advance(10_001)
        expect((await enqueueOne()).state).toBe('queued')
      })

      it('[F7.send-failed-retry] [S11.failed-retry-at-once] a failed or unknown send hides nothing', async () => {
        const failed = await enqueueOne()
        await settleNext('failed', { reason: 'platform_rejected', detail: 'not_in_channel' })
        const unknown = await enqueueOne()
        expect(unknown).toMatchObject({ state: 'queued', repeated: false })
        expect(unknown.id).not.toBe(failed.id)
        await settleNext('unknown', { reason: 'unconfirmed' })
        expect((await enqueueOne()).id).not.toBe(unknown.id)
      })

      it('another key is another content, and the idempotency key is asked first', async () => {
        const first = await enqueueOne(keyed('k', { idempotencyKey: 'i' }))
        await settleNext('sent')
        expect((await enqueueOne(keyed('other'))).state).toBe('queued')
        expect(await enqueueOne(keyed('k', { idempotencyKey: 'i' }))).toMatchObject({
          id: first.id,
          repeated: true,
          state: 'sent',
        })
      })
    })

    describe('notifications', () => {
      const told: NewNotification = {
        user: 'local',
        agent: 'kate',
        session: 's',
        channel: 'webhook',
        message: 'due',
        urgency: 'high',
        source: 'agent',
      }

      it('[F7.notify-log] [S12.ledger-notifications] success and failure are both there, as they stand now', async () => {
        await store.enqueue([keyed('k', { cause: 'notify_user', notification: told })])
        expect(await store.notifications({ limit: 5 })).toMatchObject([
          { ...told, status: 'queued', error: null },
        ])
        await settleNext('sent')
        await fixture.clock.advance(1)
        await store.enqueue([keyed('k', { cause: 'notify_user', notification: told })])
        await fixture.clock.advance(1)
        await store.enqueue([keyed('l', { cause: 'notify_user', notification: told })])
        await settleNext('failed', { reason: 'platform_rejected', detail: 'no such chat' })
        await fixture.clock.advance(1)
        await store.logNotification({ ...told, channel: 'slack', status: 'failed', error: 'no slack here' })
        const log = await store.notifications({ agent: 'kate', limit: 10 })
        expect(log.map((one) => [one.channel, one.status, one.error])).toEqual([
          ['slack', 'failed', 'no slack here'],
          ['webhook', 'failed', 'no such chat'],
          ['webhook', 'deduplicated', null],
          ['webhook', 'sent', null],
        ])
        // [I14.list-pages] The pages together are the same list.
        const paged: (typeof log)[number][] = []
        for (let before: { before?: string } = {}; ; ) {
          const [next] = await store.notifications({ agent: 'kate', limit: 1, ...before })
          if (!next) break
          paged.push(next)
          before = { before: next.id }
        }
        expect(paged).toEqual(log)
        expect(await store.notifications({ user: 'other', limit: 10 })).toEqual([])
        const ledger = (await store.ledger({ afterSeq: 0, limit: 100 })).filter(
          (one) => one.kind === 'notification',
        )
        expect(ledger.map((one) => one.to)).toEqual(['queued', 'deduplicated', 'queued', 'failed'])
        expect(ledger.every((one) => one.digest === log[0]?.digest)).toBe(true)
      })

      it('the text can be pruned, the entry stays', async () => {
        await store.logNotification({ ...told, status: 'not_sent', error: 'notify_on' })
        await fixture.clock.advance(10_000)
        expect(await store.pruneBodies(5_000, 100)).toBe(1)
        expect(await store.notifications({ limit: 1 })).toMatchObject([{ message: null, status: 'not_sent' }])
      })
    })

    describe('schedules', () => {
      it('[S3.schedule-once] [S3.schedule-once-nodes] fire once for each time, with their turn in one commit', async () => {
        const other = await fixture.open('two')
        const firing = {
          agent: 'kate',
          schedule: 'standup',
          fireAt: 1_000,
          outcome: 'run',
          times: '@1',
        } as const
        const turn = () =>
          item({
            integration: 'schedule',
            conversation: 'kate/standup',
            messageId: '1000',
            source: 'schedule:standup',
          })
        const fired = await Promise.all([
          store.fireSchedule(firing, turn()),
          other.fireSchedule(firing, turn()),
          store.fireSchedule(firing, turn()),
        ])
        expect(fired.filter((one) => one.won)).toHaveLength(1)
        expect(await store.turns({ source: 'schedule:standup', limit: 5 })).toHaveLength(1)
        expect((await store.fireSchedule({ ...firing, fireAt: 2_000, outcome: 'skipped' })).won).toBe(true)
        expect(await store.firings({ agent: 'kate', schedule: 'standup', limit: 5 })).toMatchObject([
          { fireAt: 2_000, outcome: 'skipped', turn: null },
          { fireAt: 1_000, outcome: 'run', times: '@1' },
        ])
      })
    })
  })
}
