// Small parts that every page of the console uses. Foreign text is shown only as text nodes.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { oneLine, revealHidden } from '../shared/text.ts'
import { words } from './words.ts'

const texts = words.parts

const TONES: Readonly<Record<string, string>> = {
  answered: 'good',
  sent: 'good',
  relayed: 'good',
  up: 'good',
  attached: 'good',
  allow: 'good',
  failed: 'bad',
  unknown: 'bad',
  expired: 'bad',
  down: 'bad',
  absent: 'bad',
  unreachable: 'bad',
  failing: 'bad',
  deny: 'bad',
  undeliverable: 'bad',
  behind: 'bad',
  pending: 'warn',
  held: 'warn',
  asked: 'warn',
  degraded: 'warn',
  connecting: 'warn',
  queued: 'live',
  handed: 'live',
  seen: 'live',
  sending: 'live',
  decided: 'live',
  passing: 'live',
}

export function Pill({ state, text }: { readonly state: string; readonly text?: string }): JSX.Element {
  return <span class={`pill pill-${TONES[state] ?? 'calm'}`}>{text ?? state}</span>
}

/** A foreign name on one line. Its writing direction does not affect its surroundings. */
export function Name({ text, max = 60 }: { readonly text: string; readonly max?: number }): JSX.Element {
  return <bdi>{oneLine(text, max)}</bdi>
}

/** A text for a decision: it is complete and shows invisible characters. A long one is cut, with "show all". */
export function Exact(props: {
  readonly text: string
  readonly label: string
  /** Whether the reader asked for all of it. */
  readonly whole?: boolean
}): JSX.Element {
  const { text, label } = props
  const [all, setAll] = useState(props.whole === true)
  const cut = text.length > SHOWN_CHARS && !all
  return (
    <div class="exact">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard */}
      <pre tabIndex={0} role="group" aria-label={label}>
        {revealHidden(cut ? text.slice(0, SHOWN_CHARS) : text)}
      </pre>
      {text.length > SHOWN_CHARS && (
        <button type="button" class="link" onClick={() => setAll(!all)}>
          {all ? texts.showLess : texts.showAll({ count: text.length })}
        </button>
      )}
    </div>
  )
}
const SHOWN_CHARS = 2_000

/** One clock for all times on the page. */
const tickers = new Set<() => void>()
setInterval(() => {
  for (const run of tickers) run()
}, 10_000)

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const run = () => setNow(Date.now())
    tickers.add(run)
    return () => void tickers.delete(run)
  }, [])
  return now
}

function agoWords(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1_000)
  if (seconds < -5) return texts.soon({ span: spanWords(-seconds * 1_000) })
  return seconds < 10 ? texts.justNow : texts.ago({ span: spanWords(seconds * 1_000) })
}

export function spanWords(ms: number): string {
  const { span } = texts
  const seconds = ms / 1_000
  if (seconds < 1) return span.ms({ count: Math.max(0, Math.round(ms)) })
  if (seconds < 10) return span.seconds({ text: seconds.toFixed(1) })
  if (seconds < 90) return span.seconds({ text: String(Math.round(seconds)) })
  if (seconds < 5_400) return span.minutes({ count: Math.round(seconds / 60) })
  if (seconds < 172_800) return span.hours({ count: Math.round(seconds / 3_600) })
  return span.days({ count: Math.round(seconds / 86_400) })
}

/** `none` is shown without a time. A figure that is counted since the start must not read "never". */
export function Ago({
  at,
  none = texts.never,
}: {
  readonly at: string | null
  readonly none?: string
}): JSX.Element {
  const now = useNow()
  if (at === null) return <span class="quiet">{none}</span>
  const time = new Date(at)
  return (
    <time dateTime={at} title={time.toLocaleString()}>
      {agoWords(time.getTime(), now)}
    </time>
  )
}

export function Head(props: {
  readonly title: string
  readonly lead?: ComponentChildren
  readonly children?: ComponentChildren
}): JSX.Element {
  return (
    <header class="page-head">
      <div>
        <h1>{props.title}</h1>
        {props.lead !== undefined && <p class="lead">{props.lead}</p>}
      </div>
      {props.children !== undefined && <div class="page-tools">{props.children}</div>}
    </header>
  )
}

export function Panel(props: {
  readonly title: string
  readonly note?: ComponentChildren
  readonly children: ComponentChildren
}): JSX.Element {
  return (
    <section class="panel" aria-label={props.title}>
      <header class="panel-head">
        <h2>{props.title}</h2>
        {props.note !== undefined && <span class="panel-note">{props.note}</span>}
      </header>
      {props.children}
    </section>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return <p class="empty">{children}</p>
}

export function Outcome({
  outcome,
}: {
  readonly outcome: { readonly tone: 'good' | 'bad'; readonly text: string } | null
}): JSX.Element {
  return (
    <p class={`outcome${outcome === null ? '' : ` outcome-${outcome.tone}`}`} role="status">
      {outcome === null ? '' : oneLine(outcome.text, 400)}
    </p>
  )
}

/** Shown until the first answer, or when there is none. */
export function Waiting({ problem }: { readonly problem: string | null }): JSX.Element {
  if (problem !== null) return <p class="empty tone-bad">{oneLine(problem, 300)}</p>
  return (
    <p class="empty" aria-busy="true">
      <span class="spinner" aria-hidden="true" /> {texts.loading}
    </p>
  )
}

/** Pairs of a label and its value. */
export function Facts({
  facts,
}: {
  readonly facts: readonly (readonly [string, ComponentChildren])[]
}): JSX.Element {
  const shown = facts.filter(([, value]) => value !== null && value !== undefined && value !== '')
  return (
    <dl class="facts">
      {shown.map(([word, value]) => (
        <div key={word}>
          <dt>{word}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
