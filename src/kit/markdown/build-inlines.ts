// Builds nodes from the parser's flat list of inline tokens. Marks that nest too deep are left out, so that code that
// walks the tree may recurse.
import type { MarkdownInline } from '../../contract/message/markdown.ts'
import { safeHref } from './safe-href.ts'
import type { Token } from './token.ts'

const MOST_MARKS = 16

type Nodes = MarkdownInline[]

const MARKS: Readonly<Record<string, 'strong' | 'emphasis' | 'strike'>> = {
  strong_open: 'strong',
  em_open: 'emphasis',
  s_open: 'strike',
}

/** The total length of a text's link addresses. One definition can be used a thousand times. */
export interface Budget {
  left: number
}

export function inlinesOf(tokens: readonly Token[], budget: Budget): readonly MarkdownInline[] {
  const root: Nodes = []
  // The open marks, innermost last; null: a mark that is left out.
  const open: (Nodes | null)[] = []
  let here = root
  const enter = (make: (children: Nodes) => MarkdownInline) => {
    if (open.length >= MOST_MARKS) return void open.push(null)
    const children: Nodes = []
    here.push(make(children))
    open.push(here)
    here = children
  }
  for (const token of tokens) {
    const mark = MARKS[token.type]
    if (mark !== undefined)
      enter((children) => ({ kind: mark, children, ...(token.markup === '_' ? { mark: '_' as const } : {}) }))
    else if (token.type === 'link_open') {
      const href = hrefOf(token, budget)
      if (href === '') open.push(null)
      else enter((children) => ({ kind: 'link', href, children }))
    } else if (token.nesting === -1) here = open.pop() ?? here
    else leaf(here, token, budget)
  }
  return root
}

function leaf(into: Nodes, token: Token, budget: Budget): void {
  switch (token.type) {
    case 'softbreak':
    case 'hardbreak':
      into.push({ kind: 'break' })
      return
    case 'code_inline':
      into.push({ kind: 'code', text: token.content })
      return
    case 'image':
      addImage(into, hrefOf(token, budget), altOf(token.children ?? []))
      return
    default:
      addText(into, token.content)
  }
}

function addImage(into: Nodes, href: string, alt: string): void {
  if (href === '') addText(into, alt)
  else into.push({ kind: 'image', href, alt })
}

function addText(into: Nodes, text: string): void {
  if (text === '') return
  const last = into.at(-1)
  if (last?.kind === 'text') into[into.length - 1] = { kind: 'text', text: last.text + text }
  else into.push({ kind: 'text', text })
}

/** Empty: there is no address, or no room for it. */
function hrefOf(token: Token, budget: Budget): string {
  const raw = token.attrGet(token.type === 'image' ? 'src' : 'href')
  const href = safeHref(String(raw ?? '')) ?? ''
  if (href.length > budget.left) return ''
  budget.left -= href.length
  return href
}

/** Bounded in depth: an image inside an image's text is not shown as an image. */
function altOf(tokens: readonly Token[]): string {
  return tokens.map(({ type, content }) => (type === 'softbreak' ? ' ' : content)).join('')
}
