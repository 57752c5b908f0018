// Store suite: what is kept and what is let go. Restored databases, retention, erasure; the audit holds after each.
import { describe, expect, it } from 'vitest'
import type { Store } from '../../contract/index.ts'
import {
  counts,
  type MakeStoreFixture,
  mustTake,
  mustTakeSend,
  openBeforeEach,
  queueOne,
  type StoreFixture,
  send,
} from './fixture.ts'

export function describeKeeping(make: MakeStoreFixture): void {
  describe('keeping', () => {
    let fixture: StoreFixture
    let one: Store
    openBeforeEach(
      make,
      (opened, store) => {
        fixture = opened
        one = store
      },
      () => one,
    )

    it('[I14.restore-sends] what was open in a restored database is unknown or marked, slice by slice', async () => {
      await fixture.clock.advance(1)
      const to = (conversation: string) => ({ integration: 'demo', conversation })
      await one.enqueue([send(), send({ to: to('c2') }), send({ to: to('c3') }), send({ to: to('c4') })])
      const { sending, token } = await mustTakeSend(one, { lane: 'demo:c2' })
      await one.moveSends([{ lane: 'demo:c2', token, id: sending?.id ?? '', to: 'sent' }])
      await mustTakeSend(one, { lane: 'demo:c3' })
      const waiting = await queueOne(one)
      const taken = await queueOne(one, { conversation: 'c2' })
      await mustTake(one, { lane: taken.lane })
      await one.close()
      one = await fixture.open('restore')
      expect(await one.restored()).toBeNull()
      expect(await one.settleRestored(5, 'op', 2)).toBe(2)
      expect(await one.restored()).toBeNull()
      expect(await one.settleRestored(5, 'op', 2)).toBe(1)
      expect(await one.settleRestored(5, 'op', 2)).toBe(0)
      expect(await one.restored()).toMatchObject({ takenAt: 5 })
      const states = (await one.sends({ oldestFirst: true, limit: 9 })).map((row) => [row.state, row.reason])
      expect(states).toEqual([
        ['unknown', 'restored'],
        ['sent', null],
        ['unknown', 'restored'],
        ['unknown', 'restored'],
      ])
      expect(await counts(one)).toMatchObject({
        'send:unknown:restored': 3,
        'send:sent': 1,
      })
      expect(await one.turn(waiting.id)).toMatchObject({ state: 'queued', repeat: true })
      expect(await one.turn(taken.id)).toMatchObject({ state: 'handed', repeat: true })
      // Nobody holds a lane any more: the next boot, under whatever name, takes it at once.
      const next = await mustTake(one, { lane: taken.lane })
      expect(next.leftover).toHaveLength(1)
      expect(await one.nodes()).toEqual([])
    })
  })
}
