// The targets of the growth table. Some aims are words, so a measurement stands for each: others wait at most 100 ms
// during the work, or one of many costs as much as one of few.
import type { Sections } from './report.ts'
import type { Target } from './targets.ts'

/** People do not notice a wait of this length. */
const UNNOTICED_MS = 100

const most = (values: readonly number[] | undefined) => (values === undefined ? null : Math.max(...values))
/** The figure for the largest measured number. */
const last = (by: Readonly<Record<string, number>> | undefined) =>
  Object.entries(by ?? {})
    .sort(([a], [b]) => Number(a) - Number(b))
    .at(-1)?.[1] ?? null
const all = (by: Readonly<Record<string, number>> | undefined, unit: string) => {
  const values = Object.values(by ?? {})
  return values.length === 0
    ? null
    : `${values.map((value) => value.toLocaleString('en')).join(' / ')}${unit}`
}
const waited = (gap: number | undefined, rest: number | undefined) =>
  gap === undefined ? null : `longest wait ${gap} ms (at rest ${rest ?? '–'} ms)`

export const GROWTH_TARGETS: readonly Target[] = [
  {
    key: 'scale.start',
    label: 'start, 200 / 400 / 1,000 integrations',
    unit: ' ms',
    atMost: 3_000,
    value: (r) => last(r.scale?.start_ms),
    now: (r) => all(r.scale?.start_ms, ' ms'),
  },
  {
    key: 'scale.readers',
    label: '1,000 waiting reminders × 20 and × 100 stream readers: longest wait of others',
    unit: ' ms',
    atMost: UNNOTICED_MS,
    value: (r) => most(r.scale ? Object.values(r.scale.readers.gap_ms) : undefined),
    now: (r) => {
      const told = all(r.scale?.readers.gap_ms, ' ms')
      return told && `${told} (at rest ${r.scale?.readers.rest_gap_ms} ms)`
    },
  },
  {
    key: 'growth.export',
    label: '`audit export`, 1 M turns: longest wait of others',
    unit: ' ms',
    atMost: UNNOTICED_MS,
    value: (r) => r.growth?.reads.export.gap_ms ?? null,
    now: (r) => waited(r.growth?.reads.export.gap_ms, r.growth?.reads.rest_gap_ms),
  },
  {
    key: 'growth.turns',
    label:
      '`turns` by state, agent, sender and time at 1 M: the slowest, or the wait of others where it is walked in slices',
    unit: ' ms',
    atMost: 50,
    value: (r) =>
      most(
        r.growth
          ? Object.values(r.growth.reads.turns).map(({ ms, gap_ms }) => Math.min(ms, gap_ms))
          : undefined,
      ),
    now: (r) =>
      r.growth === null
        ? null
        : Object.entries(r.growth.reads.turns)
            .map(([by, { ms, gap_ms }]) => `${by.replace('_', ' ')} ${ms} ms (others ${gap_ms})`)
            .join(', '),
  },
  {
    key: 'scale.doctor',
    label: '`doctor`, 300 / 3,000 agents',
    unit: ' ms',
    atMost: 200,
    value: (r) => last(r.scale?.doctor.ms),
    now: (r) => all(r.scale?.doctor.ms, ' ms'),
  },
  {
    key: 'scale.reload',
    label: 'reload of 725 kB: longest wait of others',
    unit: ' ms',
    atMost: UNNOTICED_MS,
    value: (r) => r.scale?.reload.gap_ms ?? null,
    now: (r) =>
      r.scale === null
        ? null
        : `${r.scale.reload.ms.toLocaleString('en')} ms in all; ${waited(r.scale.reload.gap_ms, r.scale.reload.rest_gap_ms)}`,
  },
  {
    key: 'scale.binding',
    label: 'CPU a message, 1,000 integrations over 10',
    unit: '×',
    atMost: 1.1,
    value: (r) => r.scale?.binding.ratio ?? null,
    now: (r) => r.scale && `${r.scale.binding.few_us} → ${r.scale.binding.many_us} µs`,
  },
  {
    key: 'scale.share',
    label: 'one sender asks for all 100 readers of a hook: another one',
    unit: ' let in',
    atLeast: 1,
    value: (r) => (r.scale === null ? null : r.scale.share.other_status === 200 ? 1 : 0),
    now: (r) => r.scale && `it has ${r.scale.share.held}; another gets ${r.scale.share.other_status}`,
  },
  {
    key: 'scale.dead',
    label: 'a healthy hook beside a dead destination with 50,000 sends',
    unit: '×',
    atMost: 2,
    value: (r) => r.scale?.dead.ratio ?? null,
    now: (r) => r.scale && `p50 ${r.scale.dead.p50_ms} → ${r.scale.dead.beside_dead_p50_ms} ms`,
  },
  {
    key: 'scale.long_queue',
    label: 'one conversation with 100,000 queued',
    unit: '/s',
    atLeast: 1_000,
    value: (r) => r.scale?.long_queue_per_second ?? null,
  },
  {
    key: 'scale.tables',
    label: '`turns --limit` 10,000 / 200,000: a line of many over one of few',
    unit: '×',
    atMost: 1.5,
    value: (r) => r.scale?.tables.a_line_ratio ?? null,
    now: (r) => r.scale && `${r.scale.tables.few_ms} / ${r.scale.tables.many_ms.toLocaleString('en')} ms`,
  },
  {
    key: 'growth.head',
    label: '`audit head`, 1 M turns',
    unit: ' ms',
    atMost: 50,
    value: (r: Sections) => r.growth?.reads.head_ms ?? null,
  },
  {
    key: 'growth.prune',
    label: 'pruning at 1 M turns: longest time without other work',
    unit: ' ms',
    atMost: UNNOTICED_MS,
    value: (r) => r.growth?.prune.gap_ms ?? null,
    now: (r) => r.growth && `${r.growth.prune.gap_ms} ms, ${r.growth.prune.rows.toLocaleString('en')} rows`,
  },
]
