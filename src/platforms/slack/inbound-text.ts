// Reads Slack's notation as plain text: mentions by name, links as Markdown, entities decoded once. Linear in the text.

export type NameOf = (userId: string) => string | undefined

export interface TextReader {
  readonly selfId: string
  readonly selfName: string
  readonly nameOf: NameOf
}

const TOKEN = /<([^<>\n]{1,3000})>/g

/** Returns the readable text. The bot's own name at its beginning is left out. */
export function readText(raw: string, reader: TextReader): string {
  let at = 0
  let out = ''
  for (const match of raw.matchAll(TOKEN)) {
    out += entities(raw.slice(at, match.index)) + tokenText(match[1] ?? '', reader)
    at = match.index + match[0].length
  }
  return withoutOwnName(out + entities(raw.slice(at)), reader)
}

/** Returns the mentioned people, each once, at most `most`. */
export function mentionedIn(raw: string, most: number): readonly string[] {
  const found = new Set<string>()
  for (const match of raw.matchAll(/<@([UW][A-Z0-9]{1,30})(?:\|[^<>]{0,200})?>/g)) {
    if (found.size >= most) break
    found.add(match[1] ?? '')
  }
  return [...found]
}

function tokenText(token: string, reader: TextReader): string {
  const bar = token.indexOf('|')
  const target = bar === -1 ? token : token.slice(0, bar)
  const label = bar === -1 ? '' : entities(token.slice(bar + 1))
  const kind = target[0]
  if (kind === '@') {
    const id = target.slice(1)
    if (id === reader.selfId) return `@${reader.selfName}`
    return `@${reader.nameOf(id) ?? (label === '' ? id : label.replace(/^@/, ''))}`
  }
  if (kind === '#') return `#${label === '' ? target.slice(1) : label.replace(/^#/, '')}`
  if (kind === '!') return specialText(target.slice(1), label)
  const address = entities(target)
  if (label === '' || label === address || `mailto:${label}` === address || address.endsWith(`://${label}`))
    return address.replace(/^mailto:/, '')
  return `[${label.replaceAll(']', '\\]')}](${address})`
}

function specialText(name: string, label: string): string {
  if (label !== '') return label
  const [what = ''] = name.split('^')
  return what === 'subteam' ? `@${name.split('^')[1] ?? 'group'}` : `@${what}`
}

function withoutOwnName(text: string, { selfName }: TextReader): string {
  const name = `@${selfName}`
  const trimmed = text.trimStart()
  if (selfName === '' || !trimmed.startsWith(name)) return text
  const rest = trimmed.slice(name.length)
  return /^[\p{L}\p{N}_]/u.test(rest) ? text : rest.replace(/^[\s,:]+/, '')
}

function entities(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}

// Names are shown to models and people, and could be written to look like markup.
const UNSAFE_IN_NAME = /[\p{Cc}\p{Cf}\u2028\u2029<>&|*`~]/gu

/** Returns a name without active characters; undefined: there is none. */
export function safeName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined
  const clean = name.replace(UNSAFE_IN_NAME, '').replace(/\s+/g, ' ').trim().slice(0, 80)
  return clean === '' ? undefined : clean
}

/** U+0000 cannot be stored everywhere, so a visible mark replaces it. */
export function clean(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text
}
