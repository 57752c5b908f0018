// Markdown as agents write it, to the HTML that Telegram reads. Tags are always closed and nested, whatever the input:
// the text is taken apart from outside in, and every piece is escaped exactly once.

/** Never throws; what is not Markdown stays as it is. */
export function toTelegramHtml(markdown: string): string {
  const out: string[] = []
  const lines = markdown.replaceAll('\0', '\uFFFD').split('\n')
  for (let at = 0; at < lines.length; ) {
    const block = fence(lines, at) ?? run(lines, at, QUOTE, quote) ?? run(lines, at, TABLE, table)
    if (block === null) {
      out.push(line(lines[at] ?? ''))
      at += 1
    } else {
      out.push(block.html)
      at = block.next
    }
  }
  return out.join('\n')
}

/** What Telegram counts: UTF-16 units of the text that is left when tags and entities are read. */
export function visibleLength(html: string): number {
  return html.replace(/<[^>]*>/g, '').replace(/&(?:lt|gt|amp|quot);/g, '.').length
}

interface Block {
  readonly html: string
  readonly next: number
}

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/
const QUOTE = /^ {0,3}> ?/
const TABLE = /^ {0,3}\|.*\|\s*$/

function fence(lines: readonly string[], at: number): Block | null {
  const [, marker, language = ''] = FENCE.exec(lines[at] ?? '') ?? []
  if (marker === undefined) return null
  const closing = new RegExp(`^ {0,3}${marker[0] === '`' ? '`' : '~'}{${marker.length},}\\s*$`)
  let end = at + 1
  while (end < lines.length && !closing.test(lines[end] ?? '')) end += 1
  const code = escapeHtml(lines.slice(at + 1, end).join('\n'))
  const html =
    language === ''
      ? `<pre>${code}</pre>`
      : `<pre><code class="language-${escapeHtml(language)}">${code}</code></pre>`
  return { html: code === '' ? '' : html, next: end + 1 }
}

/** A run of lines that all match. */
function run(
  lines: readonly string[],
  at: number,
  form: RegExp,
  render: (lines: readonly string[]) => string,
): Block | null {
  let end = at
  while (end < lines.length && form.test(lines[end] ?? '')) end += 1
  return end === at ? null : { html: render(lines.slice(at, end)), next: end }
}

function quote(lines: readonly string[]): string {
  const inner = lines.map((each) => line(each.replace(QUOTE, ''))).join('\n')
  return inner.trim() === '' ? '' : `<blockquote>${inner}</blockquote>`
}

// Telegram has no tables; in a fixed-width block the columns at least stay where they are.
function table(lines: readonly string[]): string {
  return lines.length < 2 ? lines.map(line).join('\n') : `<pre>${escapeHtml(lines.join('\n'))}</pre>`
}

function line(text: string): string {
  const heading = /^ {0,3}#{1,6}\s+(.+?)\s*#*$/.exec(text)
  if (heading?.[1] !== undefined) return `<b>${inline(heading[1])}</b>`
  const item = /^(\s*)[-*+]\s+(.*)$/.exec(text)
  if (item !== null && !/^\s*([-*+]\s*){3,}$/.test(text)) return `${item[1]}• ${inline(item[2] ?? '')}`
  return inline(text)
}

// Taken out first, because nothing inside them is markup: code, links, bare URLs, escaped punctuation.
const ATOM =
  /(?<!`)(?<ticks>`+)(?!`)(?<code>.+?)(?<!`)\k<ticks>(?!`)|!?\[(?<label>[^[\]\n]*)\]\((?<url>[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s+"[^"\n]*")?\)|(?<bare>(?:https?|tg|mailto):[^\s<>()[\]*`]+)|\\(?<plain>[!-/:-@[-`{-~])/gu

function inline(text: string): string {
  const atoms: string[] = []
  const held = text.replace(ATOM, (whole, ...rest) => {
    const found = rest.at(-1) as Record<string, string | undefined>
    atoms.push(atom(whole, found))
    return `\0${atoms.length - 1}\0`
  })
  return emphasis(held).replace(/\0(\d+)\0/g, (_, index: string) => atoms[Number(index)] ?? '')
}

function atom(whole: string, found: Record<string, string | undefined>): string {
  const { code, label, url, bare, plain } = found
  if (code !== undefined)
    return `<code>${escapeHtml(code.length > 2 ? code.replace(/^ (.*) $/, '$1') : code)}</code>`
  if (label !== undefined && url !== undefined) {
    if (!/^(https?|tg|mailto):/i.test(url)) return escapeHtml(whole)
    return `<a href="${escapeHtml(url)}">${label === '' ? escapeHtml(url) : emphasis(label)}</a>`
  }
  return escapeHtml(bare ?? plain ?? whole)
}

const EMPHASIS: readonly { readonly tag: string; readonly form: RegExp }[] = [
  { tag: 'b', form: /\*\*(?=[^\s])(.+?)(?<=[^\s])\*\*(?!\*)/u },
  { tag: 'b', form: /(?<![\p{L}\p{N}_])__(?=[^\s])(.+?)(?<=[^\s])__(?![\p{L}\p{N}_])/u },
  { tag: 's', form: /~~(?=[^\s~])(.+?)(?<=[^\s~])~~/u },
  { tag: 'i', form: /(?<!\*)\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?!\*)/u },
  { tag: 'i', form: /(?<![\p{L}\p{N}_])_(?=[^\s_])(.+?)(?<=[^\s_])_(?![\p{L}\p{N}_])/u },
]

/** The leftmost emphasis wins; what is inside and what comes after are taken the same way. */
function emphasis(text: string): string {
  let out = ''
  let rest = text
  for (;;) {
    let first: {
      readonly at: number
      readonly whole: string
      readonly inner: string
      readonly tag: string
    } | null = null
    for (const { tag, form } of EMPHASIS) {
      const found = form.exec(rest)
      if (found !== null && (first === null || found.index < first.at))
        first = { at: found.index, whole: found[0], inner: found[1] ?? '', tag }
    }
    if (first === null) return out + escapeHtml(rest)
    out += `${escapeHtml(rest.slice(0, first.at))}<${first.tag}>${emphasis(first.inner)}</${first.tag}>`
    rest = rest.slice(first.at + first.whole.length)
  }
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
