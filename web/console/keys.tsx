// Keyboard shortcuts: `g` and a letter opens a page, `j` and `k` move, and letters press the buttons of a row. They are
// inactive during typing, and with a modifier, which belongs to the browser.
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { CloseIcon } from '../shared/icons.tsx'
import { go } from './route.ts'
import { words } from './words.ts'

const texts = words.keys

export interface PageKey {
  readonly page: string
  readonly title: string
  readonly key: string
}

const WAIT_MS = 1_500

export function useKeys(pages: readonly PageKey[], help: (open: boolean) => void): void {
  const known = useRef(pages)
  known.current = pages
  useEffect(() => {
    let went = 0
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return
      const at = event.target as HTMLElement | null
      if (at?.closest('input, textarea, select, [contenteditable]') || document.querySelector('dialog[open]'))
        return
      const { key } = event
      const isSecond = Date.now() - went < WAIT_MS
      went = 0
      if (isSecond) {
        const page = known.current.find((one) => one.key === key)
        if (page !== undefined) {
          event.preventDefault()
          go(page.page)
        }
        return
      }
      if (key === 'g') went = Date.now()
      else if (key === '?') help(true)
      else if (key === 'j' || key === 'k') move(key === 'j' ? 1 : -1)
      else if (key === '/') document.querySelector<HTMLElement>('main [data-search]')?.focus()
      else if (key === 'Enter') {
        // The browser opens a row that is a link.
        if (at === null || !at.matches('[data-row]') || at.matches('a')) return
        at.querySelector<HTMLElement>('a')?.click()
      } else if (/^[a-z]$/.test(key)) {
        const button = focusedRow()?.querySelector<HTMLButtonElement>(`[data-key="${key}"]`)
        if (!button || button.disabled) return
        button.click()
      } else return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [help])
}

function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>('[data-row]') ?? null
}

function move(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = focusedRow()
  const next = at === null ? rows[step === 1 ? 0 : rows.length - 1] : rows[rows.indexOf(at) + step]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

const ROW_KEYS: readonly (readonly [string, string])[] = [
  ['j k', texts.nextRow],
  ['Enter', texts.open],
  ['y n', texts.decide],
  ['r b', texts.mend],
  ['x', texts.mark],
  ['/', texts.search],
  ['?', texts.help],
]

export function KeyHelp({
  pages,
  onClose,
}: {
  readonly pages: readonly PageKey[]
  readonly onClose: () => void
}): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const line = ([keys, text]: readonly [string, string]) => (
    <div key={keys}>
      <dt>
        {keys.split(' ').map((one) => (
          <kbd key={one}>{one}</kbd>
        ))}
      </dt>
      <dd>{text}</dd>
    </div>
  )
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="keys-title" onClose={onClose}>
      <header class="dialog-head">
        <h2 id="keys-title">{texts.title}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label={texts.close}
          onClick={() => dialog.current?.close()}
        >
          <CloseIcon />
        </button>
      </header>
      <div class="keys">
        <dl>{pages.map(({ key, title }) => line([`g ${key}`, title]))}</dl>
        <dl>{ROW_KEYS.map(line)}</dl>
      </div>
    </dialog>
  )
}
