// Store suite: sends with an open outcome, and the notices about sends that were not delivered.
import { describe, expect, it } from 'vitest'
import type { SendMove } from '../../contract/index.ts'
import { counts, type MakeStoreFixture, mustTakeSend, openBeforeEach, send } from './fixture.ts'

const LANE = 'demo:c1'
export function describeOpenOutcomes(make: MakeStoreFixture): void {
  describe('open outcomes', () => {
    const { fixture, store } = openBeforeEach(make)

    /** Makes two sends in a lane. The first is parked with an open outcome. */
    const parked = async (more: Partial<SendMove> = {}) => {
      const [first, second] = await store.enqueue([send({ text: 'one' }), send({ text: 'two' })])
      const { token } = await mustTakeSend(store, { lane: LANE })
      const now = fixture.clock.now()
      const open = { since: now, endedAt: now, resends: 1, looks: 2 }
      const move: SendMove = {
        ...{ lane: LANE, token, id: first?.id ?? '', to: 'sending', reason: 'outcome_open' },
        ...{ detail: 'HTTP 502', open, lookAt: now + 5_000, yieldsAt: null, ...more },
      }
      expect(await store.moveSends([move])).toEqual(['moved'])
      return { first: first?.id ?? '', second: second?.id ?? '', token, open, now }
    }
    const take = (token: number) => mustTakeSend(store, { lane: LANE, token })

    it('[I35.b1] what is parked keeps what is known of it, is counted, and holds back what is behind it', async () => {
      const { first, token, open, now } = await parked()
      expect(await store.send(first)).toMatchObject({
        ...{ state: 'sending', reason: 'outcome_open', detail: 'HTTP 502', attempts: 1, open },
      })
      expect(await counts(store)).toEqual({ 'send:sending:outcome_open': 1, 'send:queued': 1 })
      expect(await take(token)).toMatchObject({ sending: null, unsettled: [], nextDueAt: now + 5_000 })
      await fixture.clock.advance(5_000)
      const due = await take(token)
      expect(due.sending).toBeNull()
      expect(due.unsettled).toMatchObject([{ id: first, open }])
    })

    it('[I35.a4-table] counts by integration what waits for long or whose outcome is open, and since when', async () => {
      const made = fixture.clock.now()
      await store.enqueue([send({ text: 'a' })])
      expect(await store.waitingSends(made)).toEqual([])
      expect(await store.waitingSends(made + 1)).toEqual([
        { integration: 'demo', waiting: 1, open: 0, since: made },
      ])
      const { token } = await mustTakeSend(store, { lane: LANE })
      const [row] = await store.sends({ limit: 1 })
      const open = { since: made, endedAt: made, resends: 0, looks: 0 }
      const parks: SendMove = {
        ...{ lane: LANE, token, id: row?.id ?? '', to: 'sending', reason: 'outcome_open' },
        ...{ detail: 'HTTP 502', open, lookAt: made + 5_000, yieldsAt: null },
      }
      expect(await store.moveSends([parks])).toEqual(['moved'])
      expect(await store.waitingSends(made)).toEqual([
        { integration: 'demo', waiting: 1, open: 1, since: made },
      ])
      const sent = { lane: LANE, token, id: row?.id ?? '', to: 'sent', platformIds: ['1'] } as const
      expect(await store.moveSends([sent])).toEqual(['moved'])
      expect(await store.waitingSends(made + 1)).toEqual([])
    })

    it('[I35.b1] another owner finds it when it is due, and not before', async () => {
      const { first, token } = await parked()
      await store.releaseLanes('sends', [{ lane: LANE, token }])
      const other = await fixture.open('two')
      const fresh = await mustTakeSend(other, { lane: LANE })
      expect(fresh).toMatchObject({ sending: null, unsettled: [] })
      await fixture.clock.advance(5_000)
      const due = await mustTakeSend(other, { lane: LANE, token: fresh.token })
      expect(due.unsettled.map(({ id }) => id)).toEqual([first])
    })

    it('[I35.b1-order] from the time at which it yields what is behind it goes first', async () => {
      const { second, token, now } = await parked({
        lookAt: fixture.clock.now() + 60_000,
        yieldsAt: fixture.clock.now() + 10_000,
      })
      expect(await take(token)).toMatchObject({ sending: null, nextDueAt: now + 10_000 })
      await fixture.clock.advance(10_000)
      expect(await take(token)).toMatchObject({ sending: { id: second }, unsettled: [] })
    })

    it('[I35.b1-parts] parts of the same message never go first, however many there are', async () => {
      const parts = Array.from({ length: 6 }, (_, part) => send({ text: `part ${part}`, group: 'g', part }))
      const [first] = await store.enqueue(parts)
      const [other] = await store.enqueue([send({ text: 'another' })])
      const { token } = await mustTakeSend(store, { lane: LANE })
      const now = fixture.clock.now()
      const open = { since: now, endedAt: now, resends: 0, looks: 1 }
      const parks: SendMove = {
        ...{ lane: LANE, token, id: first?.id ?? '', to: 'sending', reason: 'outcome_open' },
        ...{ open, lookAt: now + 60_000, yieldsAt: now },
      }
      await store.moveSends([parks])
      const id = other?.id ?? ''
      expect(await take(token)).toMatchObject({ sending: { id }, unsettled: [], nextDueAt: now + 60_000 })
      await store.moveSends([{ lane: LANE, token, id, to: 'sent', platformIds: ['1'] }])
      expect(await take(token)).toMatchObject({ sending: null, unsettled: [], nextDueAt: now + 60_000 })
    })

    it('[I35.b1-resend] a resend keeps the count; one that is known to be absent forgets it', async () => {
      const { first, token, open } = await parked()
      const again = { ...open, resends: 2 }
      const queued = {
        lane: LANE,
        token,
        id: first,
        to: 'queued',
        reason: 'outcome_open',
        open: again,
      } as const
      await store.moveSends([queued])
      expect((await take(token)).sending).toMatchObject({ id: first, attempts: 2, open: again })
      await store.moveSends([{ lane: LANE, token, id: first, to: 'queued', open: null }])
      expect((await store.send(first))?.open).toBeUndefined()
      expect(await counts(store)).toEqual({ 'send:queued': 2 })
    })

    it('[I35.b1] an operator can give up one that is parked; a retry of what is unknown counts anew, with the note, and stays in doubt', async () => {
      const { first, second, token, open } = await parked()
      expect(await store.operateSend(first, 'bury', 'me')).toMatchObject({
        state: 'failed',
        reason: 'buried',
      })
      const { sending } = await take(token)
      expect(sending?.id).toBe(second)
      const unknown = { to: 'unknown', reason: 'unconfirmed', open } as const
      await store.moveSends([{ lane: LANE, token, id: second, ...unknown }])
      await store.operateSend(second, 'retry', 'me')
      const retried = await store.send(second)
      expect(retried?.open).toEqual({ since: open.since, endedAt: open.endedAt, resends: 0, looks: 0 })
      expect(retried?.op).toMatchObject({ text: expect.stringMatching(/^\(may be a duplicate/) })
    })

    it('[I35.b1-known] an undelivered send is reported to the agent and, in one commit, to the person', async () => {
      const [queued] = await store.enqueue([send({ text: 'lost' })])
      const { token } = await mustTakeSend(store, { lane: LANE })
      const id = queued?.id ?? ''
      const tell = { agent: true, person: true }
      await store.moveSends([{ lane: LANE, token, id, to: 'failed', reason: 'platform_rejected', tell }])
      expect(await store.unreportedFailures(null)).toMatchObject([{ id }])
      expect(await store.unnoticedSends(0)).toMatchObject([{ send: { id }, noticedAt: null }])
      const notice = send({ cause: 'notice', text: 'An answer could not be delivered.' })
      const other = await fixture.open('two')
      const told = await Promise.all([store.noticeSends([id], notice), other.noticeSends([id], notice)])
      expect(told.toSorted()).toEqual([false, true])
      expect(await store.unnoticedSends(0)).toEqual([])
      expect((await store.sends({ limit: 9 })).filter(({ cause }) => cause === 'notice')).toHaveLength(1)
    })
  })
}
