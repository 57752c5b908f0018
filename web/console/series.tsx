// Volume and time to answer: the two charts that Now and the turn log share.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TurnSeries } from '../../src/contract/operator/turn-series.ts'
import { Chart } from './chart.tsx'
import { spanWords } from './parts.tsx'

const count = (value: number) =>
  value >= 10_000 ? `${Math.round(value / 1_000)}k` : String(Math.round(value))

export function SeriesCharts({ series }: { readonly series: TurnSeries }): JSX.Element {
  const drawn = useMemo(() => {
    const of = <Key extends keyof TurnSeries['slots'][number]>(key: Key) =>
      series.slots.map((slot) => slot[key])
    return {
      times: series.slots.map((slot) => Date.parse(slot.at) / 1_000),
      volume: [
        { label: 'received', values: of('received'), tone: 'accent', bars: true },
        { label: 'refused', values: of('refused'), tone: 'warn', bars: true },
        { label: 'failed', values: of('failed'), tone: 'bad', bars: true },
      ] as const,
      took: [
        { label: 'median', values: of('median_ms'), tone: 'accent' },
        { label: '95 %', values: of('p95_ms'), tone: 'soft' },
      ] as const,
    }
  }, [series])
  return (
    <>
      <div class="charts">
        <Chart title="Messages" times={drawn.times} lines={drawn.volume} words={count} />
        <Chart title="Time to answer" times={drawn.times} lines={drawn.took} words={spanWords} />
      </div>
      {series.estimated && (
        <p class="quiet">
          Estimated from {series.looked_at.toLocaleString()} of {series.turns.toLocaleString()} turns.
        </p>
      )}
    </>
  )
}
