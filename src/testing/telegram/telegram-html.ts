// Reads the HTML of the Bot API as its server does. The result is the visible text, or the error in the server's words.
import { defined } from '../../contract/index.ts'

export type ReadHtml =
  | { readonly text: string; readonly entities: readonly FakeEntity[] }
  | { readonly error: string }

export interface FakeEntity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly url?: string
  readonly language?: string
}

const TYPES: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  span: 'spoiler',
  'tg-spoiler': 'spoiler',
  'tg-emoji': 'custom_emoji',
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' }
const TAG = /^<(\/?)([A-Za-z][\w-]*)((?:\s+[\w-]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'>]+))?)*)\s*>/

interface Open {
  readonly name: string
  readonly at: number
  readonly attributes: string
}

export function readTelegramHtml(html: string): ReadHtml {
  let text = ''
  const open: Open[] = []
  const entities: FakeEntity[] = []
  for (let at = 0; at < html.length; ) {
    const rest = html.slice(at)
    if (rest.startsWith('<')) {
      const tag = TAG.exec(rest)
      const offset = Buffer.byteLength(html.slice(0, at))
      if (tag === null) return { error: `Unclosed start tag at byte offset ${offset}` }
      const name = (tag[2] ?? '').toLowerCase()
      if (tag[1] === '/') {
        const last = open.pop()
        if (last === undefined) return { error: `Unexpected end tag at byte offset ${offset}` }
        if (last.name !== name)
          return {
            error: `Unmatched end tag at byte offset ${offset}, expected "</${last.name}>", found "</${name}>"`,
          }
        if (text.length > last.at) entities.push(entityOf(last, text.length))
      } else {
        if (TYPES[name] === undefined)
          return { error: `Unsupported start tag "${name}" at byte offset ${offset}` }
        open.push({ name, at: text.length, attributes: tag[3] ?? '' })
      }
      at += tag[0].length
      continue
    }
    const entity = /^&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/i.exec(rest)
    if (entity !== null) {
      const [whole, decimal, hex, named] = entity
      const code = decimal ? Number(decimal) : hex ? Number.parseInt(hex, 16) : null
      text += code === null ? (NAMED[named ?? ''] ?? whole) : String.fromCodePoint(code)
      at += whole.length
      continue
    }
    text += html[at]
    at += 1
  }
  const last = open.at(-1)
  if (last !== undefined) return { error: `Can't find end tag corresponding to start tag "${last.name}"` }
  return { text, entities }
}

function entityOf(open: Open, end: number): FakeEntity {
  const url = /href\s*=\s*"([^"]*)"/i.exec(open.attributes)?.[1]
  const language = /class\s*=\s*"language-([^"]*)"/i.exec(open.attributes)?.[1]
  return {
    type: TYPES[open.name] ?? open.name,
    offset: open.at,
    length: end - open.at,
    ...(url === undefined ? {} : { url: url.replaceAll('&amp;', '&') }),
    ...defined({ language }),
  }
}
