// Slack through the whole river under every fault plan: nothing is lost, nothing is repeated, and what could not be told is
// read back from the history. Prints the matrix platform × fault.
import { afterAll, describe, expect, it } from 'vitest'
import { faultPlansFor, formatMatrix, type MatrixCell } from '../../src/testing/faults/fault-matrix.ts'
import { until } from '../faults/until.ts'
import { plansOnArrangements, TALK_LIMIT_MS, talkUnderFaults } from './fault-plan-talk.ts'
import { openSlackRiver } from './slack-river.ts'

const TIMINGS = {
  helloMs: 3_000,
  pingMs: 200,
  drainMs: 50,
  retryBaseMs: 10,
  retryMaxMs: 50,
  chatIntervalMs: 10,
}
// Short where a send must be given up, and yet longer than a busy machine takes: what is given up while the fake still works
// on it is read back too soon, and a history that does not answer in time makes a labelled copy. Elsewhere a slow machine
// must not make one look lost.
const IMPATIENT_MS = 3_000
const PATIENT_MS = 30_000
/**
 * What only the history brings is ripe 75 s after the last connect: on SQLite, whose clock is handed in, time runs faster. Then what waits for
 * this machine waits as much longer. PostgreSQL has a clock of its own: there it is real.
 */
const FASTER = 20
/** An event that finds no connection is tried again for longer than a busy machine takes to make the next one. */
const OFFLINE_RETRY_MS = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400]

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))

describe('slack under every fault plan', () => {
  const plans = faultPlansFor({ send: 'chat.postMessage', edit: 'chat.update', receive: 'envelope' })
  it.each(plansOnArrangements(plans))(
    '[I15.fault-matrix] [I15.reconcile-live] [S7.suite] $name on $arrangement: nothing lost, nothing repeated',
    async (plan) => {
      const { arrangement, faults } = plan
      const faster = arrangement === 'sqlite' ? FASTER : 1
      const given = { ...TIMINGS, requestTimeoutMs: plan.mayRepeat ? IMPATIENT_MS : PATIENT_MS }
      const timings = Object.fromEntries(Object.entries(given).map(([name, ms]) => [name, ms * faster]))
      const river = await openSlackRiver({
        ...{ arrangement, faults, timings, faster },
        seed: 11,
        ackMs: 150,
        pingMs: 100,
        retryMs: OFFLINE_RETRY_MS,
      })
      try {
        await until('the link', () => river.fake.socket.open() > 0)
        await talkUnderFaults(river, plan, { platform: 'slack', onCell: (cell) => cells.push(cell) })
        expect(river.log.lines.join('\n')).not.toMatch(/xoxb-|xapp-/)
      } finally {
        await river.close()
      }
    },
    TALK_LIMIT_MS,
  )
})
