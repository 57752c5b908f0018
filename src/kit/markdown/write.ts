// WRITER: turns a tree back into Markdown, for the parts of a text that was cut. Whole blocks keep their source. Others
// are written anew, and only characters that would be read as markup are escaped.
import type { MarkdownBlock, MarkdownInline } from '../../contract/message/markdown.ts'
import { inlineText, isBare } from './plain-text.ts'

export interface Writing {
  /** Escapes every mark and ignores the source, for parts that were not read back as meant. */
  readonly strict?: boolean
}

export function writeMarkdown(blocks: readonly MarkdownBlock[], how: Writing = {}): string {
  return blocks
    .map((block, at) => {
      const before = blocks[at - 1]
      const isSecond = before?.kind === 'list' && block.kind === 'list' && before.ordered === block.ordered
      return writeBlock(block, how, isSecond && at % 2 === 1)
    })
    .join('\n\n')
}

function writeBlock(block: MarkdownBlock, how: Writing, otherMark: boolean): string {
  if (block.source !== undefined && how.strict !== true) return block.source
  switch (block.kind) {
    case 'paragraph':
      return paragraph(writeInlines(block.children, how))
    case 'heading':
      return `${'#'.repeat(block.level)} ${writeInlines(block.children, how).replaceAll('\n', ' ')}`
    case 'code':
      return fenced(block.language, block.text)
    case 'quote':
      return prefixed(writeMarkdown(block.children, how), '> ', '> ')
    case 'list':
      return block.items
        .map((item, at) => {
          const dot = otherMark ? ')' : '.'
          const bullet = otherMark ? '* ' : '- '
          const mark = block.ordered ? `${block.start + at}${dot} ` : bullet
          const task = item.checked === undefined ? '' : item.checked ? '[x] ' : '[ ] '
          return prefixed(task + writeItem(item.children, how), mark, ' '.repeat(mark.length))
        })
        .join('\n')
    case 'table':
      return [
        row(block.header.map((cell) => writeCell(cell, how))),
        row(block.align.map((side) => RULES[side ?? 'none'])),
        ...block.rows.map((cells) => row(cells.map((cell) => writeCell(cell, how)))),
      ].join('\n')
    case 'rule':
      return '***'
  }
}

const RULES = { left: ':--', center: ':-:', right: '--:', none: '---' } as const

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function writeCell(cell: readonly MarkdownInline[], how: Writing): string {
  return writeInlines(cell, how).replaceAll('\n', ' ').replaceAll('|', '\\|')
}

/** A list that may not interrupt the text before it needs an empty line. */
function writeItem(blocks: readonly MarkdownBlock[], how: Writing): string {
  let out = ''
  for (const [at, block] of blocks.entries()) {
    const close = block.kind === 'list' && (!block.ordered || block.start === 1)
    const between = close && blocks[at - 1]?.kind === 'paragraph' ? '\n' : '\n\n'
    out += (at === 0 ? '' : between) + writeBlock(block, how, false)
  }
  // Text that looks like the box of a task.
  return /^\[[ xX]\]\s/.test(out) ? `\\${out}` : out
}

function prefixed(text: string, first: string, rest: string): string {
  return text
    .split('\n')
    .map((line, at) => (at === 0 ? first + line : line === '' ? rest.trimEnd() : rest + line))
    .join('\n')
}

function fenced(language: string, text: string): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language.includes('`') ? '' : language}\n${text}\n${fence}`
}

// ---- inlines ----------------------------------------------------------------------------------------------

const MARKS = { strong: '**', emphasis: '*', strike: '~~' } as const

function writeInlines(nodes: readonly MarkdownInline[], how: Writing): string {
  const pieces: string[] = []
  // Tracked separately, because reading the end of a growing string copies it each time.
  let before = ''
  for (const [at, node] of nodes.entries()) {
    const next = nodes[at + 1]
    const piece =
      node.kind === 'text' ? escaped(node.text, before, next, how) : writeInline(node, how, before)
    pieces.push(piece)
    before = piece.at(-1) ?? before
  }
  return pieces.join('')
}

function writeInline(node: Exclude<MarkdownInline, { kind: 'text' }>, how: Writing, before: string): string {
  switch (node.kind) {
    case 'break':
      return '\n'
    case 'code':
      return codeSpan(node.text)
    case 'image':
      return `![${label(escaped(node.alt, '', undefined, how))}](${target(node.href)})`
    case 'link':
      return isBare(node)
        ? `<${inlineText(node.children)}>`
        : `[${label(writeInlines(node.children, how))}](${target(node.href)})`
    default: {
      const underscores =
        node.kind === 'emphasis' && (before === '*' || (node.mark === '_' && before !== '_'))
      const mark = underscores ? '_' : MARKS[node.kind]
      return node.children.length === 0 ? '' : mark + writeInlines(node.children, how) + mark
    }
  }
}

/** Escapes brackets. */
function label(text: string): string {
  return text.replace(/\\[\s\S]|[[\]]/g, (found) => (found.length === 1 ? `\\${found}` : found))
}

function target(href: string): string {
  return /[()\s<>]/.test(href) ? `<${href.replaceAll('<', '%3C').replaceAll('>', '%3E')}>` : href
}

function codeSpan(text: string): string {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const ticks = '`'.repeat(longest + 1)
  const pad = /^`|`$|^ .* $/s.test(text) ? ' ' : ''
  return ticks + pad + text + pad + ticks
}

const PUNCTUATION = /[!-/:-@[-`{-~]/
const WORD = /[\p{L}\p{N}]/u

function escaped(text: string, before: string, next: MarkdownInline | undefined, how: Writing): string {
  if (how.strict) return text.replace(/[!-/:-@[-`{-~]/g, '\\$&')
  let out = ''
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? ''
    const ahead = text[at + 1] ?? (next === undefined ? '' : '*')
    const behind = at === 0 ? before : (text[at - 1] ?? '')
    out += needsEscape(char, behind, ahead, next !== undefined && at === text.length - 1) ? `\\${char}` : char
  }
  return out
}

function needsEscape(char: string, behind: string, ahead: string, isBeforeNode: boolean): boolean {
  switch (char) {
    case '`':
      return true
    case '\\':
      return PUNCTUATION.test(ahead)
    case '*':
      return !(isSpace(behind) && isSpace(ahead))
    case '_':
      return !(WORD.test(behind) && WORD.test(ahead)) && !(isSpace(behind) && isSpace(ahead))
    case '~':
      return behind === '~' || ahead === '~' || isBeforeNode
    case ']':
      return ahead === '(' || ahead === '[' || ahead === ':' || isBeforeNode
    case '!':
      return isBeforeNode
    case '<':
      return /[a-z]/i.test(ahead)
    case '&':
      return /[#a-z]/i.test(ahead)
    default:
      return false
  }
}

function isSpace(char: string): boolean {
  return char === '' || /\s/.test(char)
}

/** Escapes lines of a paragraph that would begin another block. */
function paragraph(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimStart().replace(BEGINS_BLOCK, beginEscaped))
    .join('\n')
}

const BEGINS_BLOCK = /^(?:#{1,6}(?=\s|$)|>|[-+*](?=\s|$)|=+$|-+$|~~~|[|:-][-:| ]*$|(\d{1,9})([.)])(?=\s|$))/

function beginEscaped(found: string, digits: string | undefined, dot: string | undefined): string {
  return digits === undefined ? `\\${found}` : `${digits}\\${dot}`
}
