// Charts drawn by uPlot, which is loaded with the first one. A table beside each shows the same figures for people who
// cannot see it.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import { words } from './words.ts'

export interface Line {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A colour of the theme, by its name. */
  readonly tone: 'accent' | 'good' | 'bad' | 'warn' | 'soft'
  readonly bars?: boolean
}

interface Props {
  readonly title: string
  /** Seconds since 1970. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly format: (value: number) => string
  readonly height?: number
}

type Plot = typeof import('./plot.ts')
let plot: Plot | null = null
const load = () => import('./plot.ts').then((found) => (plot = found)).catch(() => null)

export function Chart({ title, times, lines, format, height = 150 }: Props): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const drawn = useRef<uPlot | null>(null)
  const [ready, setReady] = useState(plot !== null)
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches)
  useEffect(() => {
    if (!ready) void load().then(() => setReady(plot !== null))
    const theme = matchMedia('(prefers-color-scheme: dark)')
    const turn = () => setDark(theme.matches)
    theme.addEventListener('change', turn)
    return () => theme.removeEventListener('change', turn)
  }, [ready])
  const shape = `${lines.map((one) => one.label).join()} ${dark}`
  useEffect(() => {
    const at = box.current
    if (!ready || plot === null || at === null) return
    const made = plot.makePlot(at, { times, lines, format, height, width: at.clientWidth })
    drawn.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: at.clientWidth, height }))
    watch.observe(at)
    return () => {
      watch.disconnect()
      made.destroy()
      drawn.current = null
    }
  }, [ready, shape, height])
  useEffect(() => {
    if (plot !== null) drawn.current?.setData(plot.dataOf(times, lines))
  }, [times, lines])
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        <span class="chart-key">
          {lines.map((one) => (
            <span key={one.label} class={`chart-tone tone-of-${one.tone}`}>
              {one.label}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={box} class="chart-box" aria-hidden="true" />
      <details class="chart-table">
        <summary>{words.charts.asTable}</summary>
        <Figures times={times} lines={lines} format={format} title={title} />
      </details>
    </figure>
  )
}

function Figures({ title, times, lines, format }: Props): JSX.Element {
  const shown = times
    .map((time, at) => ({ time, at }))
    .filter(({ at }) => lines.some((one) => one.values[at]))
  if (shown.length === 0) return <p class="quiet">{words.charts.nothing}</p>
  return (
    <table>
      <caption class="hidden">{title}</caption>
      <thead>
        <tr>
          <th scope="col">{words.charts.from}</th>
          {lines.map((one) => (
            <th key={one.label} scope="col">
              {one.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {shown.map(({ time, at }) => (
          <tr key={time}>
            <td>{new Date(time * 1_000).toLocaleString([], { dateStyle: 'short', timeStyle: 'short' })}</td>
            {lines.map((one) => {
              const value = one.values[at]
              return <td key={one.label}>{value === null || value === undefined ? '–' : format(value)}</td>
            })}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
