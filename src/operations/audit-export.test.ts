// The download of the ledger: whole, and other work goes on while it is written.
import { expect, it } from 'vitest'
import type { LedgerEntry, Store } from '../contract/index.ts'
import { exportAudit } from './audit-export.ts'

const ENTRIES = 10_000

const store = {
  async ledger({ afterSeq: after = 0, limit }: { afterSeq?: number; limit: number }) {
    const many = Math.max(0, Math.min(limit, ENTRIES - after))
    return Array.from({ length: many }, (_, at) => ({ seq: after + at + 1 }) as LedgerEntry)
  },
} as unknown as Store

it.each(['ndjson', 'csv'] as const)(
  '[I23.export-yields] %s: something else runs after every page',
  async (format) => {
    let text = ''
    let others = 0
    let ended = false
    const beside = () => {
      others += 1
      if (!ended) setImmediate(beside)
    }
    setImmediate(beside)
    await new Promise<void>((resolve) => {
      exportAudit(store, format).stream?.({
        write: (chunk) => {
          text += chunk
        },
        // A reader that keeps up.
        drained: async () => undefined,
        closed: false,
        onClose: () => undefined,
        end: () => resolve(),
      })
    })
    ended = true
    expect(text.trimEnd().split('\n')).toHaveLength(ENTRIES + (format === 'csv' ? 1 : 0))
    expect(others).toBeGreaterThanOrEqual(ENTRIES / 500 - 1)
  },
)
