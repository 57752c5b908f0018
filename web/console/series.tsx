// Volume and time to answer: the two charts that Now and the turn log share.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { TurnSeries } from '../../src/contract/operator/turn-series.ts'
import { Chart } from './chart.tsx'
import { spanWords } from './parts.tsx'
import { words } from './words.ts'

const { charts } = words

const count = (value: number) =>
  value >= 10_000 ? charts.thousands({ count: Math.round(value / 1_000) }) : String(Math.round(value))

export function SeriesCharts({ series }: { readonly series: TurnSeries }): JSX.Element {
  const drawn = useMemo(() => {
    const of = <Key extends keyof TurnSeries['slots'][number]>(key: Key) =>
      series.slots.map((slot) => slot[key])
    return {
      times: series.slots.map((slot) => Date.parse(slot.at) / 1_000),
      volume: [
        { label: charts.received, values: of('received'), tone: 'accent', bars: true },
        { label: charts.refused, values: of('refused'), tone: 'warn', bars: true },
        { label: charts.failed, values: of('failed'), tone: 'bad', bars: true },
      ] as const,
      took: [
        { label: charts.median, values: of('median_ms'), tone: 'accent' },
        { label: charts.slowest, values: of('p95_ms'), tone: 'soft' },
      ] as const,
    }
  }, [series])
  return (
    <>
      <div class="charts">
        <Chart title={charts.messages} times={drawn.times} lines={drawn.volume} format={count} />
        <Chart title={charts.timeToAnswer} times={drawn.times} lines={drawn.took} format={spanWords} />
      </div>
      {series.estimated && (
        <p class="quiet">{charts.estimated({ looked: series.looked_at, turns: series.turns })}</p>
      )}
    </>
  )
}
