// The store's counters for `status`.
import type { Counter, StatusReport } from '../contract/index.ts'

export function totals(counters: readonly Counter[]): Pick<StatusReport, 'counts' | 'outbox' | 'stuck'> {
  const sum = (name: string) =>
    counters.reduce((total, one) => (one.name === name ? total + one.count : total), 0)
  const countOf = (name: string, reason: string) =>
    counters.reduce(
      (total, one) => (one.name === name && one.reason === reason ? total + one.count : total),
      0,
    )
  const buried = countOf('send:failed', 'buried')
  return {
    counts: {
      received: sum('received'),
      refused: sum('refused'),
      consumed: sum('consumed'),
      queued: sum('queued'),
      handed: sum('handed'),
      seen: sum('seen'),
      answered: sum('answered'),
      failed: sum('failed'),
      expired: sum('expired'),
    },
    outbox: {
      queued: sum('send:queued') + sum('send:sending'),
      sent: sum('send:sent'),
      deduplicated: sum('send:deduplicated'),
      failed: sum('send:failed'),
      unknown: sum('send:unknown'),
      outcome_open: countOf('send:sending', 'outcome_open'),
    },
    stuck: {
      failed: sum('send:failed') - buried,
      unknown: sum('send:unknown'),
    },
  }
}
