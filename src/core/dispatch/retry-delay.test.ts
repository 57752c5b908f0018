// How long a turn waits after it was not taken: the delay doubles, is bounded, and the agent cannot shorten it.
import { expect, it } from 'vitest'
import { SwitchboardError } from '../../contract/index.ts'
import { retryDelayMs } from './retry-delay.ts'

const away = (retryAfterMs?: number, code: 'agent_failed' | 'agent_absent' = 'agent_failed') =>
  new SwitchboardError(code as never, 'not now', retryAfterMs === undefined ? {} : { retryAfterMs })

it('doubles from one second to one minute', () => {
  expect([0, 1, 2, 3, 6, 7, 60].map((attempts) => retryDelayMs(attempts, away()))).toEqual([
    1_000, 1_000, 2_000, 4_000, 32_000, 60_000, 60_000,
  ])
})

it('is lengthened by what the agent asks for, and not shortened', () => {
  expect(retryDelayMs(1, away(5_000))).toBe(5_000)
  expect(retryDelayMs(4, away(10))).toBe(8_000)
  expect(retryDelayMs(1, away(0))).toBe(1_000)
})

it('is what the connector says where nobody was there', () => {
  expect(retryDelayMs(4, away(10, 'agent_absent'))).toBe(10)
  expect(retryDelayMs(4, away(undefined, 'agent_absent'))).toBe(8_000)
})
