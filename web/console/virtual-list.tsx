// A list of any length. Only the rows in view are on the page. All rows have one height, and the list scrolls with the
// page.
import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

interface Props<Item> {
  readonly label: string
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  /** The height of a row, in pixels. */
  readonly height: number
  readonly row: (item: Item) => ComponentChildren
  readonly href?: (item: Item) => string
  /** Called when the reader comes to the end. */
  readonly onEnd?: () => void
  /** Content beside the row that is not part of its link. */
  readonly aside?: (item: Item) => ComponentChildren
}

const BEYOND = 8

export function VirtualList<Item>(props: Props<Item>): JSX.Element {
  const { items, height, onEnd } = props
  const box = useRef<HTMLUListElement>(null)
  const [range, setRange] = useState({ from: 0, to: 30 })
  useEffect(() => {
    const look = () => {
      const top = box.current?.getBoundingClientRect().top ?? 0
      const from = Math.max(0, Math.floor(-top / height) - BEYOND)
      const to = Math.ceil((innerHeight - top) / height) + BEYOND
      setRange((before) => (before.from === from && before.to === to ? before : { from, to }))
    }
    look()
    // Captured, because any element may scroll.
    document.addEventListener('scroll', look, { capture: true, passive: true })
    addEventListener('resize', look)
    return () => {
      document.removeEventListener('scroll', look, { capture: true })
      removeEventListener('resize', look)
    }
  }, [height, items.length])
  const atEnd = range.to >= items.length
  useEffect(() => {
    if (atEnd) onEnd?.()
  }, [atEnd, items.length])
  const shown = items.slice(range.from, range.to)
  return (
    <ul ref={box} class="rows" aria-label={props.label} style={{ height: `${items.length * height}px` }}>
      {shown.map((item, at) => (
        <li
          key={props.keyOf(item)}
          class="row-place"
          aria-setsize={items.length}
          aria-posinset={range.from + at + 1}
          style={{ top: `${(range.from + at) * height}px`, height: `${height}px` }}
        >
          <Row item={item} {...props} />
        </li>
      ))}
    </ul>
  )
}

function Row<Item>({ item, row, href, aside }: Props<Item> & { readonly item: Item }): JSX.Element {
  if (aside !== undefined)
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: `j` and `k` move between the rows
      <div class="row row-with" data-row tabIndex={0}>
        {href === undefined ? (
          <div class="row-words">{row(item)}</div>
        ) : (
          <a class="row-words" href={href(item)} data-key="o">
            {row(item)}
          </a>
        )}
        <div class="row-aside">{aside(item)}</div>
      </div>
    )
  return (
    <a class="row" data-row href={href?.(item) ?? ''}>
      {row(item)}
    </a>
  )
}
