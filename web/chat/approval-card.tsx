// A tool call that waits for a person: the tool, its whole input, the deadline, and two buttons. It shows "allowed"
// only after the gateway said so, and then folds to a line.
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Filled } from '../shared/filled.tsx'
import { ShieldIcon } from '../shared/icons.tsx'
import { formatTime, oneLine, revealHidden, timeLeft } from '../shared/text.ts'
import { type Choice, type Entry, outcomeOf, type Tap } from './model.ts'
import { words } from './words.ts'

interface Props {
  readonly entry: Entry
  readonly edit: Entry | undefined
  readonly tap: Tap | undefined
  /** The reader's name at the gateway. */
  readonly self: string
  readonly onTap: (choice: Choice) => void
}

const SHOWN_CHARS = 1_200
const SHOWN_LINES = 14

export function ApprovalCard({ entry, edit, tap, self, onTap }: Props): JSX.Element {
  const outcome = outcomeOf(entry, edit, tap, self)
  const asked = (
    <p class="card-when">
      <span>
        <Filled
          text={words.approval.asked}
          parts={{ time: <time dateTime={new Date(entry.at).toISOString()}>{formatTime(entry.at)}</time> }}
        />
      </span>
      {entry.approval !== undefined && <code class="card-id">{entry.approval}</code>}
    </p>
  )
  if (outcome === null)
    return (
      <section class="card card-open" aria-label={words.approval.label}>
        <header class="card-head">
          <ShieldIcon />
          <span class="card-title">{words.approval.title}</span>
          {entry.expiresAt !== undefined && <Expiry at={entry.expiresAt} />}
        </header>
        <Question entry={entry} />
        {asked}
        <Buttons entry={entry} tap={tap} onTap={onTap} />
      </section>
    )
  const text = outcome.text === '' ? words.approval.recorded : outcome.text
  return (
    <details class={`card card-${outcome.tone}`} aria-label={words.approval.label}>
      <summary class="card-fold">
        <ShieldIcon />
        <span class="card-line">
          {entry.ask !== undefined && (
            <code>
              <bdi>{revealHidden(oneLine(entry.ask.toolName, 60))}</bdi>
            </code>
          )}
          <span class={`card-outcome tone-${outcome.tone}`} role="status">
            {text}
          </span>
        </span>
        {edit !== undefined && <time dateTime={new Date(edit.at).toISOString()}>{formatTime(edit.at)}</time>}
      </summary>
      <Question entry={entry} />
      {asked}
    </details>
  )
}

function Question({ entry: { ask, text } }: { readonly entry: Entry }): JSX.Element {
  if (ask === undefined)
    return (
      <div class="card-body">
        {/* As it is, not as Markdown: who decides by reading must see every character. */}
        <Input text={revealHidden(text)} />
      </div>
    )
  return (
    <div class="card-body">
      <p class="card-tool">
        <code>
          <bdi>{revealHidden(oneLine(ask.toolName, 120))}</bdi>
        </code>
      </p>
      {ask.description !== '' && (
        <p class="card-words">
          <bdi>{revealHidden(ask.description)}</bdi>
        </p>
      )}
      {ask.input !== '' && <Input text={revealHidden(ask.input)} />}
    </div>
  )
}

/** Shows the remaining time. The gateway decides when it is over; this is only an estimate. */
function Expiry({ at }: { readonly at: number }): JSX.Element {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  const date = new Date(at)
  return (
    <time
      class="card-expiry"
      dateTime={date.toISOString()}
      title={words.approval.deniedAt({ time: date.toLocaleTimeString() })}
    >
      {timeLeft(at - now)}
    </time>
  )
}

/** The input is cut until the reader asks for all of it. */
function Input({ text }: { readonly text: string }): JSX.Element {
  const [all, setAll] = useState(false)
  const lines = text.split('\n')
  const long = text.length > SHOWN_CHARS || lines.length > SHOWN_LINES
  const shown = all || !long ? text : lines.slice(0, SHOWN_LINES).join('\n').slice(0, SHOWN_CHARS)
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard */}
      <pre class={`card-input${all ? ' all' : ''}`} dir="ltr" tabIndex={0}>
        {shown}
        {shown.length < text.length && '…'}
      </pre>
      {long && (
        <button type="button" class="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all ? words.approval.less : words.approval.all({ characters: text.length.toLocaleString() })}
        </button>
      )}
    </>
  )
}

export function Buttons({ entry, tap, onTap }: Omit<Props, 'edit' | 'self'>): JSX.Element | null {
  const choices = entry.choices ?? []
  if (choices.length === 0) return null
  const busy = tap?.phase === 'deciding' || tap?.phase === 'told'
  return (
    <div class="buttons">
      {choices.map((choice, i) => (
        <button
          key={choice.value}
          type="button"
          class={`button ${buttonTone(choice, i)}${tap?.value === choice.value ? ' picked' : ''}`}
          disabled={busy}
          onClick={() => onTap(choice)}
        >
          {tap?.phase === 'deciding' && tap.value === choice.value && <span class="spinner" />}
          {oneLine(choice.label, 60)}
        </button>
      ))}
      {tap?.phase === 'failed' && (
        <p class="buttons-note tone-bad" role="alert">
          {tap.text}
        </p>
      )}
      {tap?.phase === 'told' && tap.text !== '' && (
        <p class="buttons-note" role="status">
          {tap.text}
        </p>
      )}
    </div>
  )
}

function buttonTone(choice: Choice, index: number): string {
  if (choice.value.startsWith('allow')) return 'button-good'
  if (choice.value.startsWith('deny')) return 'button-bad'
  return index === 0 ? 'button-main' : ''
}
