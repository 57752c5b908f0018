// Inputs and results of an agent's tools as text for people: bounded in depth and length, and without credentials. The
// values come from another program.

const MAX_DEPTH = 6
const MAX_ENTRIES = 50
const HIDDEN = '[hidden]'

const SECRET_KEY =
  /^(proxy-)?authorization$|^(set-)?cookie$|passw(or)?d|passphrase|secret|token$|api[_-]?key|private[_-]?key|credential/i
/** Bearers, the secret parts of our own URLs, and passwords in other URLs. */
const SECRET_TEXT: readonly [RegExp, string][] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/\/(callback|inbox)\/[^\s"'<>\\]+/g, `/$1/${HIDDEN}`],
  [/(:\/\/[^\s/:@]+):[^\s/@]+@/g, `$1:${HIDDEN}@`],
]

/**
 * Tokens in our own and in common forms. A match must contain a digit, because words alone are no tokens. The digit is
 * checked afterwards: a look-ahead could restart at every word of a text.
 */
const TOKEN = /\b[a-z]{2,8}[_-][A-Za-z0-9_-]{32,}/g

/** `secrets`: texts that are hidden everywhere. Never throws, for any value. */
export function toolText(value: unknown, maxChars: number, secrets: readonly string[] = []): string {
  const whole = typeof value === 'string' ? value : (JSON.stringify(tame(value, 0)) ?? '')
  // Cut before hiding, so that a megabyte is not searched, and cut again afterwards.
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
