// The source line of a problem, safe to print: a value is shown only where its key is known not to be a secret.
import { configSchema } from './schema/index.ts'
import { keyNames } from './schema-walk.ts'

const KEYS = keyNames(configSchema)
const TOKEN = /("(?:[^"\\]|\\.)*"?|'[^']*'?|(?:[^\s,{}[\]#"':]|:(?=[^\s]))+)(\s*:(?=\s|$))?/g
const REFERENCE = /^(env:[A-Za-z_]\w*|secret:[\w.-]+),?$/
const MASK = '•••'

/** The line as a person wrote it, with everything that could be a secret masked; same columns up to the caret. */
export function excerptOf(text: string, line: number, column: number): { excerpt: string; caret: number } {
  const source = (text.split('\n')[line - 1] ?? '').replace(/\r$/, '')
  if (source.trim() === '' || source.length > 2_000) return { excerpt: '', caret: column }
  let key: string | null = null
  let out = ''
  let last = 0
  let shift = 0
  for (const match of source.matchAll(TOKEN)) {
    const token = match[1] ?? ''
    const isKey = match[2] !== undefined
    const start = match.index
    out += source.slice(last, start)
    if (isKey) {
      key = token.replace(/^["']|["']$/g, '')
      out += token.length > 60 ? MASK : token
    } else {
      const known = key === null ? undefined : KEYS.get(key)
      const safe = REFERENCE.test(token) || token === '-' || (known !== undefined && !known.secret)
      const shown = safe ? token : MASK
      if (start + token.length < column) shift += shown.length - token.length
      out += shown
    }
    last = start + token.length
  }
  out += source.slice(last)
  // Tabs would push the caret away from its place.
  const tidy = out.replaceAll('\t', ' ')
  return { excerpt: tidy.length > 160 ? `${tidy.slice(0, 160)}…` : tidy, caret: Math.max(1, column + shift) }
}
