// WhatsApp through the whole river under every fault plan: nothing is lost, a lost answer is settled by its status, and the receipts are
// true. Prints the matrix platform × fault.
import { afterAll, describe, expect, it } from 'vitest'
import { faultPlansFor, formatMatrix, type MatrixCell } from '../../src/testing/faults/fault-matrix.ts'
import { until } from '../faults/until.ts'
import { plansOnArrangements } from './fault-plan-talk.ts'
import { openWhatsAppRiver } from './whatsapp-river.ts'

const TIMINGS = { retryBaseMs: 10, retryMaxMs: 50, pairIntervalMs: 1 }
// Short where a send must be given up. Elsewhere a slow machine must not make one look lost.
const IMPATIENT_MS = 250
const PATIENT_MS = 30_000
const WORDS = ['alpha', 'bravo', 'charlie']

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))

describe('whatsapp under every fault plan', () => {
  const plans = faultPlansFor({ send: 'messages', edit: 'marks', receive: 'webhook' }).filter(
    ({ name }) => name !== 'drop the response to an edit',
  )
  it.each(plansOnArrangements(plans))(
    '[I24.wa-plans] [I24.wa-settled] $name on $arrangement: nothing lost, nothing repeated without a label',
    async (plan) => {
      // What did not arrive gets no status: it is waited for a moment, and then sent again with a label.
      const requestTimeoutMs = plan.mayRepeat ? IMPATIENT_MS : PATIENT_MS
      const river = await openWhatsAppRiver({
        arrangement: plan.arrangement,
        faults: plan.faults,
        seed: 11,
        timings: { ...TIMINGS, requestTimeoutMs },
      })
      try {
        const { kate, fake, store } = river
        for (const word of WORDS) kate.says(word)
        kate.says('deploy')
        const seen = () => kate.sees()
        await until('the answers', () =>
          WORDS.every((word) => seen().some((text) => text.includes(`You said: ${word}`))),
        )
        await until('the question', () => seen().some((text) => text.includes('demo wants to run Deploy')))
        kate.taps('Allow')
        await until('the deploy', () => seen().some((text) => text.includes('Deployed')))
        await until('the outbox is empty', async () => {
          const open = await store.sends({ states: ['queued', 'sending'], limit: 10 })
          return open.length === 0
        })
        await until('every post is taken', () => fake.webhook.waiting() === 0)
        const copies = (part: string) => seen().filter((text) => text.includes(part))
        const expected = [...WORDS.map((word) => `You said: ${word}`), '🚀 Deployed']
        const unlabelled = (part: string) =>
          copies(part).filter((text) => !text.includes('may be a duplicate'))
        cells.push({
          platform: 'whatsapp',
          plan: plan.name,
          fired: fake.fired.length,
          lost: expected.filter((part) => copies(part).length === 0).length,
          repeated: expected.filter((part) => unlabelled(part).length > 1).length,
          labelled: seen().filter((text) => text.includes('may be a duplicate')).length,
        })
        // Each arrived, and never twice: what was taken is known by its status, and only what was not is sent again.
        expect(expected.map((part) => [part, copies(part).length])).toEqual(expected.map((part) => [part, 1]))
        if (plan.faults.length > 0) expect(fake.fired.length).toBeGreaterThan(0)
        // How the question ended is told a moment later.
        const sends = await until('all is sent', async () => {
          const all = await store.sends({ limit: 100 })
          const shown = all.filter(({ op }) => op?.kind !== 'react')
          const isDone = shown.every(({ state, receipt }) => state !== 'queued' && receipt === 'delivered')
          return isDone && all.every(({ state }) => state !== 'sending') ? all : null
        })
        expect(sends.map(({ state }) => state)).toEqual(sends.map(() => 'sent'))
        const shown = sends.filter(({ op }) => op?.kind !== 'react')
        expect(shown.map(({ receipt }) => receipt)).toEqual(shown.map(() => 'delivered'))
        // Each message was received once, whatever the wire did, and the books agree.
        const turns = await store.turns({ limit: 200 })
        const messages = turns.filter(({ body, reason }) => body?.kind === 'message' && reason !== 'report')
        expect(messages.map((turn) => turn.body?.text).toSorted()).toEqual([...WORDS, 'deploy'])
        expect(messages.map((turn) => turn.state)).toEqual(messages.map(() => 'answered'))
        expect(await store.verify()).toMatchObject({ ok: true, chain: 'intact', conservation: { ok: true } })
        expect(river.log.lines.join('\n')).not.toMatch(/EAAG|emulated-app-secret|emulated-verify/)
      } finally {
        await river.close()
      }
    },
  )
})
