// Builds blocks from the parser's flat list of block tokens.
import type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownInline,
  MarkdownItem,
} from '../../contract/message/markdown.ts'
import { type Budget, inlinesOf } from './build-inlines.ts'
import type { Token } from './token.ts'

type Align = Extract<MarkdownBlock, { kind: 'table' }>['align'][number]

/** A block whose parts are not complete yet. */
interface Open {
  readonly token: Token
  readonly children: MarkdownBlock[]
  readonly items: MarkdownItem[]
  readonly rows: MarkdownCell[][]
  readonly align: Align[]
  inline: readonly MarkdownInline[]
}

const LONGEST_LANGUAGE = 40
/** Parts of a table, which is a block of its own. */
const INSIDE_TABLE = /^(thead|tbody|tr|th|td)_/

/** `lines`: the source lines; null where no block can be given as its own source. */
export function blocksOf(
  tokens: readonly Token[],
  lines: readonly string[] | null,
  budget: Budget,
): readonly MarkdownBlock[] {
  const root = started(null)
  const open: Open[] = []
  for (const token of tokens) {
    const here = open.at(-1) ?? root
    if (token.type === 'inline') here.inline = inlinesOf(token.children ?? [], budget)
    else if (INSIDE_TABLE.test(token.type)) tablePart(here, token)
    else if (token.nesting === 1) open.push(started(token))
    else {
      const done = token.nesting === -1 ? open.pop() : undefined
      const into = open.at(-1) ?? root
      if (done?.token.type === 'list_item_open') into.items.push(itemOf(done.children))
      else add(into, done ? blockOf(done) : leafOf(token), done?.token ?? token)
    }
  }
  return root.children

  function add(into: Open, block: MarkdownBlock | null, token: Token): void {
    if (block === null) return
    const source = into === root && lines !== null ? sourceOf(block, token, lines) : null
    into.children.push(source === null ? block : { ...block, source })
  }
}

function started(token: Token | null): Open {
  return { token: token as Token, children: [], items: [], rows: [], align: [], inline: [] }
}

function tablePart(table: Open, token: Token): void {
  if (token.type === 'tr_open') table.rows.push([])
  if (token.type === 'th_open') table.align.push(alignOf(token))
  if (token.type !== 'th_close' && token.type !== 'td_close') return
  table.rows.at(-1)?.push(table.inline)
  table.inline = []
}

function leafOf({ type, info, content }: Token): MarkdownBlock | null {
  if (type === 'hr') return { kind: 'rule' }
  if (type !== 'fence' && type !== 'code_block') return null
  return {
    kind: 'code',
    language: languageOf(info),
    text: content.endsWith('\n') ? content.slice(0, -1) : content,
  }
}

function blockOf({ token, children, items, rows, align, inline }: Open): MarkdownBlock | null {
  switch (token.type) {
    case 'paragraph_open':
      return inline.length === 0 ? null : { kind: 'paragraph', children: inline }
    case 'heading_open':
      return { kind: 'heading', level: Number(token.tag.slice(1)), children: inline }
    case 'blockquote_open':
      return { kind: 'quote', children }
    case 'bullet_list_open':
      return { kind: 'list', ordered: false, start: 1, items }
    case 'ordered_list_open':
      return { kind: 'list', ordered: true, start: Number(token.attrGet('start') ?? 1), items }
    case 'table_open':
      return { kind: 'table', align, header: rows[0] ?? [], rows: rows.slice(1) }
    default:
      return null
  }
}

const TASK = /^\[([ xX])\]\s/

function itemOf(children: readonly MarkdownBlock[]): MarkdownItem {
  const [first, ...others] = children
  const text = first?.kind === 'paragraph' ? first.children[0] : undefined
  const task = text?.kind === 'text' ? TASK.exec(text.text) : null
  if (task === null || text?.kind !== 'text' || first?.kind !== 'paragraph') return { children }
  const rest = { kind: 'text', text: text.text.slice(task[0].length) } as const
  const said = { kind: 'paragraph', children: [rest, ...first.children.slice(1)] } as const
  return { checked: task[1] !== ' ', children: [said, ...others] }
}

function languageOf(info: string): string {
  const word = info.trim().split(/\s/, 1)[0] ?? ''
  return word.length <= LONGEST_LANGUAGE ? word : ''
}

function alignOf(token: Token): Align {
  const style = String(token.attrGet('style') ?? '')
  return (['left', 'center', 'right'] as const).find((side) => style.endsWith(side)) ?? null
}

/** Returns null where the source alone would be read differently: it is indented, or open to the end. */
function sourceOf(block: MarkdownBlock, token: Token, lines: readonly string[]): string | null {
  if (token.map === null || block.kind === 'code') return null
  const source = lines
    .slice(...token.map)
    .join('\n')
    .trimEnd()
  return /^\s/.test(source) ? null : source
}
