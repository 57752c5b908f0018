// The status of a thread on a driven clock: it is repeated before Slack forgets it, and ends with the work.
import { describe, expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import type { SlackClient } from './api/client.ts'
import { createThreadStatus } from './status.ts'

const TO = { integration: 'sl', conversation: 'C0GENERAL', thread: '1771000001.000100' }

function stage(fault: () => Error = () => new Error('it is lossy')) {
  const clock = createTestClock()
  const said: unknown[] = []
  const client = {
    call: async (_method: string, params: Readonly<Record<string, unknown>> = {}) => {
      said.push(params.status)
      throw fault()
    },
  } as unknown as SlackClient
  return { clock, said, status: createThreadStatus(client, { clock, everyMs: 90_000 }) }
}

describe('the status of a thread', () => {
  it('[I15.thread-status] is said again while the work goes on, takes new words, and ends with it; a failure is nobody’s', async () => {
    const { clock, said, status } = stage()
    status.working(TO, true)
    status.working(TO, true)
    await clock.advance(180_000)
    expect(said).toEqual(Array.from({ length: 3 }, () => 'is working on it…'))
    status.say(TO, 'reads  the\nplan')
    await clock.advance(90_000)
    expect(said.slice(3)).toEqual(['reads the plan', 'reads the plan'])
    status.working(TO, false)
    await clock.advance(600_000)
    expect(said.slice(5)).toEqual([''])
  })

  it('[I14.status-gives-way] of many words the newest is shown every few seconds, and none while Slack asks for peace', async () => {
    let busy = false
    const { clock, said, status } = stage(() =>
      busy ? new SwitchboardError('rate_limited', 'wait', { retryAfterMs: 30_000 }) : new Error('lossy'),
    )
    status.working(TO, true)
    for (let at = 1; at <= 100; at++) status.say(TO, `step ${at}`)
    await clock.advance(2_000)
    expect(said).toEqual(['is working on it…', 'step 1'])
    await clock.advance(2_000)
    expect(said.slice(2)).toEqual(['step 100'])
    busy = true
    for (let at = 101; at <= 110; at++) {
      status.say(TO, `step ${at}`)
      await clock.advance(2_500)
    }
    expect(said.slice(3)).toEqual(['step 101'])
    busy = false
    await clock.advance(10_000)
    status.say(TO, 'goes on')
    await clock.advance(3_000)
    expect(said.at(-1)).toBe('goes on')
  })

  it('[I15.thread-status] is not said for ever, nor where there is no thread', async () => {
    const { clock, said, status } = stage()
    status.working({ integration: 'sl', conversation: 'D0KATE001' }, true)
    expect(said).toEqual([])
    status.working(TO, true)
    await clock.advance(3_600_000)
    expect(said.length).toBeGreaterThan(5)
    expect(said.length).toBeLessThan(12)
  })
})
