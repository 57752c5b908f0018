// Markdown data as elements. Nothing here takes HTML: text becomes text nodes, links were vetted by the parser.
import type { ComponentChildren, JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { type Block, type Inline, parseMarkdown } from './markdown.ts'

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const blocks = useMemo(() => parseMarkdown(text), [text])
  return <div class="md">{blocks.map(block)}</div>
}

function block(node: Block, key: number): ComponentChildren {
  switch (node.t) {
    case 'p':
      return <p key={key}>{node.c.map(inline)}</p>
    case 'h': {
      // Below the page's own headings, so that a message cannot pose as the page.
      const Tag = `h${Math.min(6, node.level + 2)}` as 'h3'
      return (
        <Tag key={key} class={`md-h md-h${node.level}`}>
          {node.c.map(inline)}
        </Tag>
      )
    }
    case 'pre':
      return <Fence key={key} lang={node.lang} code={node.v} />
    case 'quote':
      return <blockquote key={key}>{node.c.map(block)}</blockquote>
    case 'list': {
      const items = node.items.map((item, i) => <li key={i}>{tight(item)}</li>)
      return node.ordered ? (
        <ol key={key} start={node.start}>
          {items}
        </ol>
      ) : (
        <ul key={key}>{items}</ul>
      )
    }
    case 'hr':
      return <hr key={key} />
  }
}

/** An item of one paragraph is a line, not a paragraph. */
function tight(item: readonly Block[]): ComponentChildren {
  const [first, ...rest] = item
  return first?.t === 'p' ? [...first.c.map(inline), ...rest.map(block)] : item.map(block)
}

function inline(node: Inline, key: number): ComponentChildren {
  switch (node.t) {
    case 'text':
      return node.v
    case 'code':
      return <code key={key}>{node.v}</code>
    case 'br':
      return <br key={key} />
    case 'b':
      return <strong key={key}>{node.c.map(inline)}</strong>
    case 'i':
      return <em key={key}>{node.c.map(inline)}</em>
    case 's':
      return <s key={key}>{node.c.map(inline)}</s>
    case 'a':
      return (
        <a key={key} href={node.href} title={node.href} target="_blank" rel="noopener noreferrer nofollow">
          {node.c.map(inline)}
        </a>
      )
  }
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
            {copied ? 'copied' : 'copy'}
          </button>
        )}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}
