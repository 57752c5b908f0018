// What happens to a try that was written and never confirmed: the table of open-outcomes.ts, row by row.
import { describe, expect, it } from 'vitest'
import type { OpenOutcome, OutboundOp, SendRow } from '../../contract/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { type Asked, OUTCOME_TIMES, type OutcomeFacts, stepOf } from './open-outcomes.ts'

const DAY_MS = 24 * 3_600_000
const OP: OutboundOp = { kind: 'text', text: 'hello' }
const ROW = { id: 's_1', op: OP, updatedAt: 0 } as unknown as SendRow
const OPEN: OpenOutcome = { since: 0, endedAt: 1_000, resends: 0, looks: 0 }

const facts = (now: number, over: Partial<OutcomeFacts> = {}): OutcomeFacts => ({
  times: OUTCOME_TIMES,
  now,
  hold: false,
  sendExpiryMs: DAY_MS,
  retryMs: 1_000,
  jitter: 1,
  okAt: null,
  ...over,
})
const step = (asked: Asked, now: number, open: Partial<OpenOutcome> = {}, over: Partial<OutcomeFacts> = {}) =>
  stepOf(ROW, OP, { ...OPEN, ...open }, asked, 'no answer came', facts(now, over))

const AWAY: Asked = { outcome: 'later', error: new SwitchboardError('platform_unavailable', 'away') }

describe('[I36.outcomes-tested] [I35.b1-readback] a platform that can be asked', () => {
  const absent: Asked = { outcome: 'absent' }

  it('"not there" counts only 30 s after the try ended', () => {
    expect(step(absent, 30_999)).toMatchObject({ to: 'sending', reason: 'outcome_open', lookAt: 31_000 })
    expect(step(absent, 31_000)).toMatchObject({ to: 'queued', reason: 'platform_unavailable' })
  })

  it('a send that is not there is sent again, with backoff, until it expires', () => {
    const absences = (count: number) => ({ absences: count })
    expect(step(absent, 31_000, absences(1))).toMatchObject({ to: 'queued', open: { absences: 2 } })
    expect(step(absent, 31_000, absences(2))).toMatchObject({ to: 'sending', lookAt: 121_000 })
    expect(step(absent, DAY_MS)).toMatchObject({ to: 'failed', reason: 'platform_unavailable' })
  })

  it('one that does not answer is asked again, at most until the send expires', () => {
    expect(step(AWAY, 2_000)).toMatchObject({ to: 'sending', lookAt: 7_000, open: { looks: 1 } })
    expect(step(AWAY, 2_000, { looks: 9 })).toMatchObject({ to: 'sending', lookAt: 62_000 })
    expect(step(AWAY, DAY_MS)).toMatchObject({ to: 'unknown', reason: 'unconfirmed' })
  })
})

describe('[I36.outcomes-tested] [I35.b1-resend] a platform that cannot be asked', () => {
  const unknown: Asked = { outcome: 'unknown' }
  const waits = [5_000, 30_000, 120_000, 600_000]

  it.each(waits.map((wait, resends) => [resends, wait]))(
    'resend %i follows after %i ms, labelled',
    (resends, wait) => {
      expect(step(unknown, 1_000 + wait - 1, { resends })).toMatchObject({
        to: 'sending',
        lookAt: 1_000 + wait,
      })
      const again = step(unknown, 1_000 + wait, { resends })
      expect(again).toMatchObject({ to: 'queued', reason: 'outcome_open', open: { resends: resends + 1 } })
      expect(again.op).not.toEqual(OP)
    },
  )

  it('after four of them, or where the policy is to hold, the row is unknown', () => {
    expect(step(unknown, DAY_MS / 2, { resends: 4 })).toMatchObject({ to: 'unknown', reason: 'unconfirmed' })
    expect(step(unknown, 2_000, {}, { hold: true })).toMatchObject({ to: 'unknown', reason: 'unconfirmed' })
  })
})

it('a nonce that still holds is relied on; later the platform is asked', () => {
  const harmless: Asked = { outcome: 'harmless', until: 60_000 }
  expect(step(harmless, 2_000)).toMatchObject({ to: 'queued', notBeforeMs: 1_000 })
  expect(step(harmless, 59_500)).toMatchObject({ to: 'sending', lookAt: 60_001 })
})

it('later sends of the conversation wait ten minutes after another call succeeded', () => {
  expect(step({ outcome: 'unknown' }, 2_000, {}, { okAt: null })).toMatchObject({ yieldsAt: null })
  expect(step({ outcome: 'unknown' }, 2_000, {}, { okAt: 1_500 })).toMatchObject({ yieldsAt: 601_000 })
})
