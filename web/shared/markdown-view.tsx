// Shows the tree of the shared reader as elements. No HTML is accepted: text becomes text nodes, and the reader limits
// links to http, https and mailto.
/** @jsxImportSource preact */

import type { ComponentChildren, JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownInline,
  MarkdownItem,
} from '../../src/contract/message/markdown.ts'
import { words } from './words.ts'

type Read = (text: string) => readonly MarkdownBlock[]

// The reader is two thirds of the page's code, so it is loaded later. Until then texts are shown as they were written.
let reader: Read | null = null
const loading = import('./markdown-reader.ts').then(
  ({ readMarkdown }) => {
    reader = readMarkdown
  },
  // If it cannot be loaded (the page was left, the daemon is gone), texts stay as they were written.
  () => undefined,
)

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const [read, setRead] = useState<Read | null>(() => reader)
  useEffect(() => {
    if (read === null) void loading.then(() => setRead(() => reader))
  }, [read])
  const blocks = useMemo(() => read?.(text), [read, text])
  return blocks === undefined ? <p class="plain">{text}</p> : <div class="md">{elementsOf(blocks)}</div>
}

export function elementsOf(blocks: readonly MarkdownBlock[]): ComponentChildren[] {
  return blocks.map(block)
}

function block(node: MarkdownBlock, key: number): ComponentChildren {
  switch (node.kind) {
    case 'paragraph':
      return <p key={key}>{node.children.map(inline)}</p>
    case 'heading': {
      // Below the page's own headings, so that a message cannot imitate the page.
      const Tag = `h${Math.min(6, node.level + 2)}` as 'h3'
      return (
        <Tag key={key} class={`md-h md-h${node.level}`}>
          {node.children.map(inline)}
        </Tag>
      )
    }
    case 'code':
      return <Fence key={key} lang={node.language} code={node.text} />
    case 'quote':
      return <blockquote key={key}>{node.children.map(block)}</blockquote>
    case 'list':
      return node.ordered ? (
        <ol key={key} start={node.start}>
          {node.items.map(item)}
        </ol>
      ) : (
        <ul key={key}>{node.items.map(item)}</ul>
      )
    case 'table':
      return <Table key={key} table={node} />
    case 'rule':
      return <hr key={key} />
  }
}

/** The item's first paragraph is shown as a line. */
function item({ checked, children }: MarkdownItem, key: number): JSX.Element {
  const [first, ...rest] = children
  const inside =
    first?.kind === 'paragraph' ? [...first.children.map(inline), ...rest.map(block)] : children.map(block)
  if (checked === undefined) return <li key={key}>{inside}</li>
  return (
    <li key={key} class="task">
      <input
        type="checkbox"
        checked={checked}
        disabled
        aria-label={checked ? words.markdown.done : words.markdown.toDo}
      />{' '}
      {inside}
    </li>
  )
}

type TableBlock = Extract<MarkdownBlock, { kind: 'table' }>

function Table({ table }: { readonly table: TableBlock }): JSX.Element {
  const cells = (Tag: 'th' | 'td') => (cell: MarkdownCell, at: number) => (
    <Tag key={at} class={`md-${table.align[at] ?? 'left'}`}>
      {cell.map(inline)}
    </Tag>
  )
  return (
    <Scroller label="Table" kind="md-table">
      <table>
        <thead>
          <tr>{table.header.map(cells('th'))}</tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            <tr key={at}>{row.map(cells('td'))}</tr>
          ))}
        </tbody>
      </table>
    </Scroller>
  )
}

const TAGS = { strong: 'strong', emphasis: 'em', strike: 's' } as const

function inline(node: MarkdownInline, key: number): ComponentChildren {
  switch (node.kind) {
    case 'text':
      return node.text
    case 'code':
      return <code key={key}>{node.text}</code>
    case 'break':
      return <br key={key} />
    // A stranger's picture is never loaded, because that would reveal who reads it, and when.
    case 'image':
      return link(node.href, node.alt === '' ? node.href : node.alt, key, node.alt)
    case 'link':
      return link(node.href, node.children.map(inline), key, wordsOf(node.children))
    default: {
      const Tag = TAGS[node.kind]
      return <Tag key={key}>{node.children.map(inline)}</Tag>
    }
  }
}

function link(href: string, label: ComponentChildren, key: number, said: string): JSX.Element {
  const leads = otherHost(said, href)
  return (
    <a key={key} href={href} title={href} target="_blank" rel="noopener noreferrer nofollow">
      {label}
      {leads !== null && ` ${words.markdown.leadsTo({ host: leads })}`}
    </a>
  )
}

const wordsOf = (nodes: readonly MarkdownInline[]): string =>
  nodes.map((node) => (node.kind === 'text' ? node.text : '')).join('')

const HOST = /^\s*(?:[a-z]+:\/\/)?(?:[^/\s@]*@)?((?:[\p{L}\p{N}-]+\.)+\p{L}[\p{L}\p{N}-]*)/iu

/** Returns the real host if a link's text looks like another address; else null. */
function otherHost(words: string, href: string): string | null {
  const [, named] = HOST.exec(words.slice(0, 300)) ?? []
  if (named === undefined || !/^https?:/i.test(href)) return null
  const host = new URL(href).hostname
  const bare = (name: string) => name.toLowerCase().replace(/^www\./, '')
  return bare(named) === bare(host) ? null : host
}

function Fence({ lang, code }: { readonly lang: string; readonly code: string }): JSX.Element {
  const [copied, setCopied] = useState(false)
  const copy = (): void => {
    void navigator.clipboard?.writeText(code).then(() => {
      setCopied(true)
      setTimeout(() => setCopied(false), 1_500)
    })
  }
  return (
    <div class="fence">
      <div class="fence-head">
        <span>{lang}</span>
        {navigator.clipboard !== undefined && (
          <button type="button" class="link" onClick={copy}>
            {copied ? words.markdown.copied : words.markdown.copy}
          </button>
        )}
      </div>
      <Scroller label={words.markdown.code({ language: lang })} kind="fence-code">
        <pre>
          <code>{code}</code>
        </pre>
      </Scroller>
    </div>
  )
}

/** Content that is wider than the page scrolls in its own box. An edge shows that there is more. */
function Scroller(props: {
  readonly label: string
  readonly kind: string
  readonly children: ComponentChildren
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [more, setMore] = useState('')
  const look = useCallback((): void => {
    const at = box.current
    if (at === null) return
    const left = at.scrollLeft > 1
    const right = at.scrollLeft + at.clientWidth < at.scrollWidth - 1
    setMore(`${left ? ' more-left' : ''}${right ? ' more-right' : ''}`)
  }, [])
  useEffect(() => {
    if (box.current === null) return
    const watch = new ResizeObserver(look)
    watch.observe(box.current)
    look()
    return () => watch.disconnect()
  }, [look])
  return (
    <div class={`scroller${more}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for a form */}
      <div
        ref={box}
        class={props.kind}
        role="group"
        aria-label={props.label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard
        tabIndex={0}
        onScroll={look}
      >
        {props.children}
      </div>
    </div>
  )
}
