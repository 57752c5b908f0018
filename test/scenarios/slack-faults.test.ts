// Slack through the whole river under every fault plan: nothing is lost, nothing is repeated, and what could not be told is
// read back from the history. Prints the matrix platform × fault.
import { afterAll, describe, expect, it } from 'vitest'
import { faultPlansFor, formatMatrix, type MatrixCell } from '../../src/testing/fault-matrix.ts'
import { until } from '../faults/until.ts'
import { dealtPlans, SCOPE } from './deal.ts'
import { openSlackRiver, SLACK_ARRANGEMENTS } from './slack-river.ts'

const TIMINGS = {
  helloMs: 3_000,
  pingMs: 200,
  drainMs: 50,
  retryBaseMs: 10,
  retryMaxMs: 50,
  chatIntervalMs: 10,
  settleMs: 300,
}
// Short where a send must be given up, and yet longer than a busy machine takes: what is given up while the fake still works
// on it is read back too soon, and a history that does not answer in time makes a labelled copy. Elsewhere a slow machine
// must not make one look lost.
const IMPATIENT_MS = 3_000
const PATIENT_MS = 30_000
const WORDS = ['alpha', 'bravo', 'charlie']

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))

describe('slack under every fault plan', () => {
  const plans = faultPlansFor({ send: 'chat.postMessage', edit: 'chat.update', receive: 'envelope' })
  const product = plans.flatMap((plan) =>
    SLACK_ARRANGEMENTS.map((arrangement) => ({ ...plan, arrangement })).slice(0, SCOPE === 'first' ? 1 : 3),
  )
  it.each(dealtPlans(product, ({ name }) => name))(
    '[I15.fault-matrix] [I15.reconcile-live] [S7.suite] $name on $arrangement: nothing lost, nothing repeated',
    async (plan) => {
      const timings = { ...TIMINGS, requestTimeoutMs: plan.mayRepeat ? IMPATIENT_MS : PATIENT_MS }
      const river = await openSlackRiver({
        arrangement: plan.arrangement,
        faults: plan.faults,
        seed: 11,
        ackMs: 150,
        pingMs: 100,
        retryMs: [50, 100],
        timings,
      })
      try {
        const { kate, fake, store } = river
        await until('the link', () => fake.socket.open() > 0)
        for (const word of WORDS) kate.says(word)
        kate.says('deploy')
        const seen = () => kate.sees()
        await until('the answers', () =>
          WORDS.every((word) => seen().some((text) => text.includes(`You said: ${word}`))),
        )
        await until('the question', () => seen().some((text) => text.includes('demo wants to run Deploy')))
        // A tap is not sent again by Slack: the person presses once more, when nothing comes of it for a while.
        let pressedAt = Number.NEGATIVE_INFINITY
        await until('the deploy', () => {
          if (seen().some((text) => text.includes('Deployed'))) return true
          if (performance.now() - pressedAt < 1_000) return false
          pressedAt = performance.now()
          try {
            kate.taps('Allow')
          } catch {
            // It is decided already.
          }
          return false
        })
        const retired = () =>
          seen().filter((text) => text.includes('allowed by') && !text.includes('Deployed'))
        await until('the prompt is retired', () => retired().length > 0)
        await until('the outbox is empty', async () => {
          const open = await store.sends({ states: ['queued', 'sending'], limit: 10 })
          return open.length === 0
        })
        const copies = (part: string) => seen().filter((text) => text.includes(part))
        const expected = [...WORDS.map((word) => `You said: ${word}`), '🚀 Deployed']
        cells.push({
          platform: 'slack',
          plan: plan.name,
          fired: fake.fired.length,
          lost: expected.filter((part) => copies(part).length === 0).length,
          repeated: expected.filter((part) => copies(part).length > 1).length,
          labelled: seen().filter((text) => text.includes('may be a duplicate')).length,
        })
        expect(expected.map((part) => [part, copies(part).length])).toEqual(expected.map((part) => [part, 1]))
        // Her chat has two names, and she was asked in it once.
        expect(retired()).toHaveLength(1)
        if (plan.faults.length > 0) expect(fake.fired.length).toBeGreaterThan(0)
        // Each message was received once, whatever the wire did, and the books agree.
        const turns = await store.turns({ limit: 1_000 })
        const messages = turns.filter((turn) => !turn.messageId.startsWith('tap:'))
        expect(messages.map((turn) => turn.body?.text).toSorted()).toEqual([...WORDS, 'deploy'])
        expect(messages.map((turn) => turn.state)).toEqual(['answered', 'answered', 'answered', 'answered'])
        expect(await store.verify()).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
        expect(river.log.lines.join('\n')).not.toMatch(/xoxb-|xapp-/)
      } finally {
        await river.close()
      }
    },
  )
})
