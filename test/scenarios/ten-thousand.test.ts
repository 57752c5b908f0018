// Ten thousand sends through a platform that loses one answer in ten: every row settles, every row tells the truth, and
// the number of duplicates that people see is counted and printed.
import { expect, it } from 'vitest'
import type { SendFault } from '../../src/testing/scripted/scripted-platform.ts'
import { createTestRandom } from '../../src/testing/test-clock.ts'
import { testAgent, testIntegration } from '../../src/testing/test-settings.ts'
import { describeRiver } from './river.ts'
import { caller } from './tool-caller.ts'

const SENDS = 10_000
const TARGETS = 50
const NOTE = '(may be a duplicate'
/** A try that may have arrived is followed by four resends at most. */
const COPIES = 5
/** The last resend comes after ten minutes, and what is behind it in its conversation waits for it. */
const LONGEST_MS = 3_600_000
const STEP_MS = 5_000

describeRiver(
  'ten thousand sends',
  (open) => {
    it('[I4.ten-thousand] every row is settled and truthful', { timeout: 600_000 }, async () => {
      const river = await open({
        integrations: [testIntegration('team', { platform: 'slack', scope: 'all' })],
        agents: [testAgent('demo', [], { messagingAllow: ['slack:*'] })],
        tunables: { recipientLimit: { rps: 0, burst: 0 }, sendRetryBaseMs: 100 },
      })
      const random = createTestRandom('ten thousand')
      const fault = (): SendFault | null => {
        const [kind = 0, arrived = 0] = random.bytes(2)
        // One answer in ten is lost: half of those messages had arrived. A few sends fail in other ways.
        if (kind < 26) return { kind: 'unknown', arrived: arrived < 128 }
        if (kind < 30) return { kind: 'unavailable' }
        if (kind < 32) return { kind: 'busy', retryAfterMs: 500 }
        return kind === 32 ? { kind: 'rejected' } : null
      }
      river.platform.failBy(fault)
      const tools = river.tools()
      const outcomes = Array.from({ length: SENDS }, (_, n) =>
        tools.sendMessage(caller(), { platform: 'slack', target: `C${n % TARGETS}`, body: `message ${n}` }),
      )
      await river.settle()
      for (let waited = 0; waited < LONGEST_MS && !(await allSettled(river)); waited += STEP_MS) {
        await river.pass(STEP_MS)
      }
      const results = await Promise.all(outcomes)

      const rows = await river.store().sends({ limit: SENDS + 1, oldestFirst: true })
      expect(rows).toHaveLength(SENDS)
      const copies = new Map<string, string[]>()
      for (const { key, op } of river.platform.arrived) {
        const text = op.kind === 'text' ? op.text : ''
        copies.set(key, [...(copies.get(key) ?? []), text])
      }
      const byId = new Map(rows.map((row) => [row.id, row]))
      let duplicates = 0
      const states = new Map<string, number>()
      for (const row of rows) {
        const seen = copies.get(row.id) ?? []
        states.set(row.state, (states.get(row.state) ?? 0) + 1)
        expect(['sent', 'failed', 'unknown'], row.id).toContain(row.state)
        // Sent means that a person can see it, under the id that the row names.
        if (row.state === 'sent') expect(seen.length, row.id).toBeGreaterThan(0)
        if (row.state === 'failed') expect(row.reason, row.id).toBe('platform_rejected')
        if (row.state === 'unknown') expect(row.reason, row.id).toBe('unconfirmed')
        // Of the copies that people see, one at most does not say that it may be a duplicate.
        expect(seen.length, row.id).toBeLessThanOrEqual(COPIES)
        expect(seen.filter((text) => !text.startsWith(NOTE)).length, row.id).toBeLessThanOrEqual(1)
        duplicates += Math.max(0, seen.length - 1)
      }
      const told = results.map((one) => String(one.structured.status))
      const count = (status: string) => told.filter((one) => one === status).length
      for (const [at, result] of results.entries()) {
        if (result.structured.status !== 'sent') continue
        expect(byId.get(String(result.structured.outbox_id))?.state, String(at)).toBe('sent')
      }
      console.log(
        `${SENDS} sends, ${river.platform.attempts.length} attempts: ${[...states].map(([s, n]) => `${n} ${s}`).join(', ')}; ` +
          `callers were told ${count('sent')} sent, ${count('queued')} queued, ${count('failed')} failed; ` +
          `visible duplicates: ${duplicates}, each marked`,
      )
      expect(states.get('sent') ?? 0).toBeGreaterThan(SENDS * 0.95)
    })
  },
  ['memory'],
)

async function allSettled(river: {
  store(): { counters(): Promise<readonly { name: string; count: number }[]> }
}) {
  const open = (await river.store().counters()).filter(
    ({ name }) => name === 'send:queued' || name === 'send:sending',
  )
  return open.every(({ count }) => count === 0)
}
