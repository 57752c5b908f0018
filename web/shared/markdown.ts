// Markdown as data: a small, safe subset. There is no HTML in it and no way to make any: everything that is not one of
// these shapes is text, and a link leads only to http, https or mailto. Linear in the length of the input.

export type Inline =
  | { readonly t: 'text'; readonly v: string }
  | { readonly t: 'code'; readonly v: string }
  | { readonly t: 'br' }
  | { readonly t: 'b' | 'i' | 's'; readonly c: readonly Inline[] }
  | { readonly t: 'a'; readonly href: string; readonly c: readonly Inline[] }

export type Block =
  | { readonly t: 'p'; readonly c: readonly Inline[] }
  | { readonly t: 'h'; readonly level: number; readonly c: readonly Inline[] }
  | { readonly t: 'pre'; readonly lang: string; readonly v: string }
  | { readonly t: 'quote'; readonly c: readonly Block[] }
  | {
      readonly t: 'list'
      readonly ordered: boolean
      readonly start: number
      readonly items: readonly (readonly Block[])[]
    }
  | { readonly t: 'hr' }

const MAX_CHARS = 100_000
const MAX_DEPTH = 6

export function parseMarkdown(text: string): readonly Block[] {
  const clean = text.replace(/\r\n?/g, '\n')
  // Past this nobody reads it as prose; it is shown as it is.
  if (clean.length > MAX_CHARS) return [{ t: 'pre', lang: '', v: clean }]
  return blocks(clean.split('\n'), 0)
}

/** The address if a link may lead there, else null. Schemes are compared after the URL was really parsed. */
export function safeHref(raw: string): string | null {
  const trimmed = raw.trim()
  if (!URL.canParse(trimmed)) return null
  const url = new URL(trimmed)
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'mailto:' ? url.href : null
}

// ---- blocks -----------------------------------------------------------------------------------------------

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`\s]{0,40})[^`]*$/
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const QUOTE = /^ {0,3}> ?/
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])\s+(.*)$/

function blocks(lines: readonly string[], depth: number): readonly Block[] {
  const out: Block[] = []
  let paragraph: string[] = []
  const flush = (): void => {
    if (paragraph.length > 0) out.push({ t: 'p', c: inlines(paragraph.join('\n')) })
    paragraph = []
  }
  let i = 0
  while (i < lines.length) {
    const line = lines[i] ?? ''
    if (line.trim() === '') {
      flush()
      i += 1
      continue
    }
    const fence = FENCE.exec(line)
    if (fence !== null) {
      flush()
      const end = fenceEnd(lines, i + 1, fence[1] ?? '```')
      out.push({ t: 'pre', lang: fence[2] ?? '', v: lines.slice(i + 1, end).join('\n') })
      i = end + 1
      continue
    }
    const heading = HEADING.exec(line)
    if (heading !== null) {
      flush()
      out.push({ t: 'h', level: (heading[1] ?? '#').length, c: inlines(heading[2] ?? '') })
      i += 1
      continue
    }
    if (RULE.test(line)) {
      flush()
      out.push({ t: 'hr' })
      i += 1
      continue
    }
    if (depth < MAX_DEPTH && QUOTE.test(line)) {
      flush()
      let end = i
      while (end < lines.length && QUOTE.test(lines[end] ?? '')) end += 1
      const inner = lines.slice(i, end).map((quoted) => quoted.replace(QUOTE, ''))
      out.push({ t: 'quote', c: blocks(inner, depth + 1) })
      i = end
      continue
    }
    if (depth < MAX_DEPTH && ITEM.test(line)) {
      flush()
      const list = readList(lines, i, depth)
      out.push(list.block)
      i = list.end
      continue
    }
    paragraph.push(line)
    i += 1
  }
  flush()
  return out
}

/** An unclosed fence runs to the end: nothing after it may be read as markup by surprise. */
function fenceEnd(lines: readonly string[], from: number, mark: string): number {
  const closer = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}\\s*$`)
  for (let i = from; i < lines.length; i += 1) if (closer.test(lines[i] ?? '')) return i
  return lines.length
}

function readList(lines: readonly string[], from: number, depth: number): { block: Block; end: number } {
  const first = ITEM.exec(lines[from] ?? '')
  const ordered = /\d/.test(first?.[2] ?? '')
  const items: (readonly Block[])[] = []
  let i = from
  while (i < lines.length) {
    const found = ITEM.exec(lines[i] ?? '')
    if (found === null || /\d/.test(found[2] ?? '') !== ordered || RULE.test(lines[i] ?? '')) break
    const body: string[] = [found[3] ?? '']
    i += 1
    // What is indented below an item belongs to it; a blank line does only if more of it follows.
    while (i < lines.length) {
      const next = lines[i] ?? ''
      if (/^ {2,}\S/.test(next)) body.push(next.replace(/^ {2,4}/, ''))
      else if (next.trim() === '' && /^ {2,}\S/.test(lines[i + 1] ?? '')) body.push('')
      else break
      i += 1
    }
    items.push(blocks(body, depth + 1))
    if ((lines[i] ?? '').trim() === '' && ITEM.test(lines[i + 1] ?? '')) i += 1
  }
  return { block: { t: 'list', ordered, start: Number.parseInt(first?.[2] ?? '1', 10) || 1, items }, end: i }
}

// ---- inlines ----------------------------------------------------------------------------------------------

const LINK =
  /\[([^[\]\n]{1,500})\]\(\s*<?([^\s<>()]{1,2000}(?:\([^\s<>()]{0,500}\)[^\s<>()]{0,500})?)>?(?:\s+"[^"\n]{0,200}")?\s*\)/y
const BARE = /https?:\/\/[^\s<>"'`\\^{}|]{1,2000}/iy
const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/iy
const SPANS = [
  ['**', 'b'],
  ['__', 'b'],
  ['~~', 's'],
  ['*', 'i'],
  ['_', 'i'],
] as const

export function inlines(text: string, depth = 0): readonly Inline[] {
  const out: Inline[] = []
  // Closers that were searched for and not found: later openers need not search again, so the scan stays linear.
  const hopeless = new Set<string>()
  let plain = ''
  let i = 0
  const push = (node: Inline): void => {
    if (plain !== '') out.push({ t: 'text', v: plain })
    plain = ''
    out.push(node)
  }
  while (i < text.length) {
    const char = text[i] ?? ''
    const next = text[i + 1] ?? ''
    if (char === '\\' && /[!-/:-@[-`{-~]/.test(next)) {
      plain += next
      i += 2
      continue
    }
    if (char === '\n') {
      plain = plain.replace(/ +$/, '')
      push({ t: 'br' })
      i += 1
      continue
    }
    if (char === '`') {
      const run = runLength(text, i, '`')
      const close = closingRun(text, i + run, run, hopeless)
      if (close !== -1) {
        push({ t: 'code', v: trimCode(text.slice(i + run, close)) })
        i = close + run
      } else {
        plain += '`'.repeat(run)
        i += run
      }
      continue
    }
    const link = depth < MAX_DEPTH ? linkAt(text, i, depth) : null
    if (link !== null) {
      push(link.node)
      i = link.end
      continue
    }
    const span = depth < MAX_DEPTH ? spanAt(text, i, hopeless) : null
    if (span !== null) {
      push({ t: span.tag, c: inlines(text.slice(i + span.mark.length, span.close), depth + 1) })
      i = span.close + span.mark.length
      continue
    }
    plain += char
    i += 1
  }
  if (plain !== '') out.push({ t: 'text', v: plain })
  return out
}

function linkAt(text: string, i: number, depth: number): { node: Inline; end: number } | null {
  const char = text[i]
  if (char === '[') {
    LINK.lastIndex = i
    const found = LINK.exec(text)
    const href = found === null ? null : safeHref(found[2] ?? '')
    if (found === null || href === null) return null
    // A link inside a link's own text would be two targets for one click.
    const label = inlines(found[1] ?? '', depth + 1).map(
      (node): Inline => (node.t === 'a' ? { t: 'text', v: flat(node.c) } : node),
    )
    return { node: { t: 'a', href, c: label }, end: i + found[0].length }
  }
  if (char === '<') {
    ANGLE.lastIndex = i
    const found = ANGLE.exec(text)
    const href = found === null ? null : safeHref(found[1] ?? '')
    if (found === null || href === null) return null
    return { node: { t: 'a', href, c: [{ t: 'text', v: found[1] ?? '' }] }, end: i + found[0].length }
  }
  if ((char === 'h' || char === 'H') && !/[\p{L}\p{N}_]/u.test(text[i - 1] ?? '')) {
    BARE.lastIndex = i
    const found = BARE.exec(text)
    if (found === null) return null
    const shown = trimUrl(found[0])
    const href = safeHref(shown)
    if (href === null) return null
    return { node: { t: 'a', href, c: [{ t: 'text', v: shown }] }, end: i + shown.length }
  }
  return null
}

/** The sentence's own punctuation is not part of an address; a bracket is, if it was opened inside. */
function trimUrl(url: string): string {
  let end = url.length
  while (end > 0) {
    const last = url[end - 1] ?? ''
    const loose = last === ')' && !url.slice(0, end - 1).includes('(')
    if (!/[.,;:!?*_~\]]/.test(last) && !loose) break
    end -= 1
  }
  return url.slice(0, end)
}

function spanAt(
  text: string,
  i: number,
  hopeless: Set<string>,
): { mark: string; tag: 'b' | 'i' | 's'; close: number } | null {
  for (const [mark, tag] of SPANS) {
    if (hopeless.has(mark) || !text.startsWith(mark, i)) continue
    if (/^\s?$/.test(text[i + mark.length] ?? '')) continue
    if (mark[0] === '_' && /[\p{L}\p{N}]/u.test(text[i - 1] ?? '')) continue
    const close = closingMark(text, i + mark.length, mark)
    if (close === -1) hopeless.add(mark)
    else if (close > i + mark.length) return { mark, tag, close }
  }
  return null
}

function closingMark(text: string, from: number, mark: string): number {
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + 1)) {
    const before = text[at - 1] ?? ''
    const after = text[at + mark.length] ?? ''
    if (/\s/.test(before) || before === '\\' || at === from) continue
    // `*` must not close on half of a `**`.
    if (mark.length === 1 && (after === mark || before === mark)) continue
    if (mark[0] === '_' && /[\p{L}\p{N}]/u.test(after)) continue
    // Of three in a row the last two close the outer one.
    return mark.length === 2 && after === mark[0] && text[at + 3] !== mark[0] ? at + 1 : at
  }
  return -1
}

function runLength(text: string, from: number, char: string): number {
  let end = from
  while (text[end] === char) end += 1
  return end - from
}

function closingRun(text: string, from: number, length: number, hopeless: Set<string>): number {
  const key = `\`${length}`
  if (hopeless.has(key)) return -1
  for (let at = text.indexOf('`', from); at !== -1; ) {
    const run = runLength(text, at, '`')
    if (run === length) return at
    at = text.indexOf('`', at + run)
  }
  hopeless.add(key)
  return -1
}

function trimCode(code: string): string {
  const line = code.replace(/\n/g, ' ')
  return line.startsWith(' ') && line.endsWith(' ') && line.trim() !== '' ? line.slice(1, -1) : line
}

function flat(nodes: readonly Inline[]): string {
  return nodes.map((node) => ('c' in node ? flat(node.c) : node.t === 'br' ? ' ' : node.v)).join('')
}
