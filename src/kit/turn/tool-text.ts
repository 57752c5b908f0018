// What an agent says its tools were given or gave back, as text for people: bounded in depth and length, and without the
// credentials that such values tend to carry. What arrives here was chosen by somebody else's program.

const MAX_DEPTH = 6
const MAX_ENTRIES = 50
const HIDDEN = '[hidden]'

const SECRET_KEY =
  /^(proxy-)?authorization$|^(set-)?cookie$|passw(or)?d|passphrase|secret|token$|api[_-]?key|private[_-]?key|credential/i
/** Bearers, the secret part of our own URLs, and passwords in others'. */
const SECRET_TEXT: readonly [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\/(callback|inbox)\/[^\s"'<>\\]+/g, `/$1/${HIDDEN}`],
  [/(:\/\/[^\s/:@]+):[^\s/@]+@/g, `$1:${HIDDEN}@`],
]

/**
 * Tokens of the forms that we and others mint; words alone are none. The digit is looked for in what was found: looked
 * for ahead, one text could make the search begin anew at each of its words.
 */
const TOKEN = /\b[a-z]{2,8}[_-][A-Za-z0-9_-]{32,}/g

/** `secrets`: texts that are hidden wherever they stand. Never throws, however the value is made. */
export function toolText(value: unknown, maxChars: number, secrets: readonly string[] = []): string {
  const whole = typeof value === 'string' ? value : (JSON.stringify(tame(value, 0)) ?? '')
  // Cut generously first, so that a megabyte is not searched; and again when it is clean.
  const shown = hide(whole.slice(0, maxChars * 4), secrets)
  return shown.length > maxChars ? `${shown.slice(0, maxChars - 1)}…` : shown
}

function hide(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret.length >= 8)
  const bare = known.reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
  const plain = SECRET_TEXT.reduce((left, [pattern, instead]) => left.replace(pattern, instead), bare)
  return plain.replace(TOKEN, (found) => (/\d/.test(found) ? HIDDEN : found))
}

function tame(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= MAX_DEPTH) return '…'
  if (Array.isArray(value)) {
    const shown = value.slice(0, MAX_ENTRIES).map((one) => tame(one, depth + 1))
    return value.length > MAX_ENTRIES ? [...shown, '…'] : shown
  }
  const keys = Object.keys(value)
  const fields = value as Readonly<Record<string, unknown>>
  const shown = keys.slice(0, MAX_ENTRIES).map((key) => {
    const one = fields[key]
    return [key, typeof one === 'string' && SECRET_KEY.test(key) ? HIDDEN : tame(one, depth + 1)]
  })
  return Object.fromEntries(keys.length > MAX_ENTRIES ? [...shown, ['…', '…']] : shown)
}
