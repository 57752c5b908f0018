// Fields of forms and filters, each with its label.
import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

export function Choice(props: {
  readonly label: string
  readonly value: string
  readonly options: readonly (readonly [string, string])[]
  readonly onPick: (value: string) => void
}): JSX.Element {
  const known = props.options.some(([value]) => value === props.value)
  return (
    <label class="field">
      <span>{props.label}</span>
      <select value={props.value} onChange={(event) => props.onPick(event.currentTarget.value)}>
        {!known && <option value={props.value}>{props.value}</option>}
        {props.options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

const SOON_MS = 350

/** Applies the typed text a moment after the last key. */
export function TextFilter(props: {
  readonly label: string
  readonly value: string
  readonly placeholder?: string
  readonly onText: (value: string) => void
}): JSX.Element {
  const [text, setText] = useState(props.value)
  /** The last applied value. Only a value from elsewhere replaces the typed text. */
  const used = useRef(props.value)
  useEffect(() => {
    if (props.value === used.current) return
    used.current = props.value
    setText(props.value)
  }, [props.value])
  const { onText, value } = props
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => {
      used.current = text.trim()
      onText(text.trim())
    }, SOON_MS)
    return () => clearTimeout(timer)
  }, [text, value, onText])
  return (
    <label class="field">
      <span>{props.label}</span>
      <input
        type="search"
        data-search
        value={text}
        placeholder={props.placeholder ?? ''}
        maxLength={200}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </label>
  )
}
