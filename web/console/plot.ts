// uPlot in the theme's colours. It is loaded only when a chart is shown.
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Line } from './chart.tsx'

interface Order {
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly width: number
  readonly height: number
}

export function dataOf(times: readonly number[], lines: readonly Line[]): uPlot.AlignedData {
  return [times as number[], ...lines.map((one) => one.values as (number | null)[])]
}

export function makePlot(at: HTMLElement, { times, lines, format, width, height }: Order): uPlot {
  const theme = getComputedStyle(document.documentElement)
  const colour = (name: string) => theme.getPropertyValue(`--${name}`).trim()
  const axis = {
    stroke: colour('soft'),
    font: `11px ${theme.getPropertyValue('--sans')}`,
    grid: { stroke: colour('line'), width: 1 },
    ticks: { show: false },
  }
  const bars = uPlot.paths.bars?.({ size: [0.7, 24], radius: 0.2 })
  return new uPlot(
    {
      width: Math.max(120, width),
      height,
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
      scales: { y: { range: (_self, _low, high) => [0, Math.max(1, high * 1.1)] } },
      axes: [
        { ...axis, grid: { show: false }, size: 38 },
        { ...axis, size: 52, space: 34, values: (_self, values) => values.map((one) => format(one)) },
      ],
      series: [
        {},
        ...lines.map(
          (one): uPlot.Series => ({
            label: one.label,
            stroke: colour(one.tone),
            width: one.bars === true ? 0 : 1.6,
            ...(one.bars === true && bars !== undefined ? { paths: bars, fill: colour(one.tone) } : {}),
            points: { show: one.bars !== true, size: 4, fill: colour(one.tone) },
            spanGaps: false,
          }),
        ),
      ],
    },
    dataOf(times, lines),
    at,
  )
}
