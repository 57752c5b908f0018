// The source line of a problem, safe to print: a value is shown only where its key is known not to be a secret.
const TOKEN = /("(?:[^"\\]|\\.)*"?|'[^']*'?|(?:[^\s,{}[\]#"':]|:(?=[^\s]))+)(\s*:(?=\s|$))?/g
const REFERENCE = /^(env:[A-Za-z_]\w*|secret:[\w.-]+),?$/
const MASK = '•••'

// Not secrets to the schema, but people write `--token=…` there.
const COMMAND_LINES = ['command', 'args']

/** Every key of the schema, and whether it holds a secret. */
export type KnownKeys = ReadonlyMap<string, { readonly secret: boolean }>

/**
 * The line as a person wrote it, with everything that could be a secret masked. A key is shown when the schema knows
 * it or when it is the one the problem names (`named`); a value only after a key that never holds a secret.
 */
export function excerptOf(
  source: string,
  column: number,
  named: boolean,
  keys: KnownKeys,
): { readonly excerpt: string; readonly caret: number } {
  const line = source.replace(/\r$/, '')
  if (line.trim() === '' || line.length > 2_000) return { excerpt: '', caret: column }
  let key: string | null = null
  let inFlow = false
  let out = ''
  let last = 0
  let shift = 0
  for (const match of line.matchAll(TOKEN)) {
    const token = match[1] ?? ''
    const start = match.index
    const between = line.slice(last, start)
    if (/[{[]/.test(between)) inFlow = true
    // What a comment says belongs to no key.
    if (/\s#/.test(between)) key = null
    // Inside a plain text ("pass: word: x") what looks like a key is not one.
    const opens =
      last === 0 || (inFlow && /[{[,]\s*$/.test(between)) || /^\s*-\s*$/.test(line.slice(0, start))
    // A quoted key may have its value right behind it.
    const isQuotedKey = /^["']/.test(token) && /^\s*:/.test(line.slice(start + token.length))
    const isKey = (match[2] !== undefined || isQuotedKey) && opens
    // What follows the mark of a key that is written out (`? key : value`) is not known by a key.
    if (token === '?') key = null
    let shown: string
    if (isKey) {
      key = token.replace(/^["']|["']$/g, '')
      shown = keys.has(key) || (named && start === column - 1 && token.length <= 60) ? token : MASK
    } else {
      shown = REFERENCE.test(token) || /^[-:?]$/.test(token) || isPlain(key, keys) ? token : MASK
    }
    if (start + token.length < column) shift += shown.length - token.length
    out += between + shown
    last = start + token.length
  }
  out += line.slice(last)
  // Tabs would push the caret away from its place.
  const tidy = out.replaceAll('\t', ' ')
  return { excerpt: tidy.length > 160 ? `${tidy.slice(0, 160)}…` : tidy, caret: Math.max(1, column + shift) }
}

function isPlain(key: string | null, keys: KnownKeys): boolean {
  if (key === null || COMMAND_LINES.includes(key)) return false
  return keys.get(key)?.secret === false
}
