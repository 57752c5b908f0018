// Discord through the whole river under every fault plan: nothing is lost, nothing is repeated, and what could not be told is
// read back. Prints the matrix platform × fault.
import { afterAll, describe, expect, it } from 'vitest'
import { faultPlansFor, formatMatrix, type MatrixCell } from '../../src/testing/faults/fault-matrix.ts'
import { until } from '../faults/until.ts'
import { openDiscordRiver } from './discord-river.ts'
import { plansOnArrangements, TALK_LIMIT_MS, talkUnderFaults } from './fault-plan-talk.ts'

const TIMINGS = {
  helloMs: 3_000,
  readyMs: 5_000,
  steadyMs: 50,
  leastBeatMs: 50,
  identifyMs: 50,
  invalidMs: 50,
  retryBaseMs: 10,
  retryMaxMs: 50,
  chatIntervalMs: 10,
}
// Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
const IMPATIENT_MS = 250
const PATIENT_MS = 30_000

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))

describe('discord under every fault plan', () => {
  const plans = faultPlansFor({ send: 'create-message', edit: 'edit-message', receive: 'dispatch' })
  it.each(plansOnArrangements(plans))(
    '[I20.fault-matrix] [I20.river] [S7.suite] $name on $arrangement: nothing lost, nothing repeated',
    async (plan) => {
      const timings = { ...TIMINGS, requestTimeoutMs: plan.mayRepeat ? IMPATIENT_MS : PATIENT_MS }
      const { arrangement, faults } = plan
      const river = await openDiscordRiver({ arrangement, faults, seed: 11, heartbeatMs: 150, timings })
      try {
        const { fake } = river
        await until('the link', () => fake.gateway.open() > 0)
        await talkUnderFaults(river, plan, { platform: 'discord', onCell: (cell) => cells.push(cell) })
        expect(fake.world.pinged).toEqual([])
        expect(river.log.lines.join('\n')).not.toContain(fake.token)
      } finally {
        await river.close()
      }
    },
    TALK_LIMIT_MS,
  )
})
