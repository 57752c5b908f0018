// Turns over time, from a sample of the store: volume, how long an answer took, refusals by reason.
import { iso, type SeriesQuery, type TurnSample, type TurnSeries } from '../../contract/index.ts'

const SLOTS = 48

export function turnSeries(sample: TurnSample, { sinceMs, untilMs: now }: SeriesQuery): TurnSeries {
  const slotMs = Math.max(1_000, Math.ceil((now - sinceMs) / SLOTS))
  // Each that was looked at stands for so many.
  const each = sample.looked === 0 ? 1 : sample.total / sample.looked
  const slots = Array.from({ length: SLOTS }, () => ({
    received: 0,
    answered: 0,
    refused: 0,
    failed: 0,
    took: [] as number[],
  }))
  const reasons = new Map<string, number>()
  for (const row of sample.rows) {
    const slot = slots[Math.min(SLOTS - 1, Math.max(0, Math.floor((row.at - sinceMs) / slotMs)))]
    if (slot === undefined) continue
    slot.received += 1
    if (row.state === 'answered') {
      slot.answered += 1
      if (!row.late) slot.took.push(row.updatedAt - row.at)
    } else if (row.state === 'refused') {
      slot.refused += 1
      const reason = row.reason ?? 'refused'
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
    } else if (row.state === 'failed' || row.state === 'expired') slot.failed += 1
  }
  const counted = (count: number) => Math.round(count * each)
  return {
    from: iso(sinceMs),
    to: iso(now),
    slot_ms: slotMs,
    slots: slots.map(({ took, received, answered, refused, failed }, at) => {
      took.sort((one, other) => one - other)
      return {
        at: iso(sinceMs + at * slotMs),
        received: counted(received),
        answered: counted(answered),
        refused: counted(refused),
        failed: counted(failed),
        median_ms: quantile(took, 0.5),
        p95_ms: quantile(took, 0.95),
      }
    }),
    reasons: [...reasons]
      .map(([reason, count]) => ({ reason, count: counted(count) }))
      .sort((one, other) => other.count - one.count),
    estimated: sample.looked < sample.total,
    turns: sample.total,
    looked_at: sample.looked,
  }
}

/** Of sorted ones; null: there are none. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}
