// Whether a regular expression can take exponential time: a repeated group whose rounds can be cut in more than one way,
// such as (a+)+ or (\w|\d)*. It reads the pattern's form and may warn of one that is harmless; it misses patterns that
// are merely slow. A stranger chooses the text that a mention pattern is tried on.

interface Atom {
  /** The source of one character or class. Null: a group or a back reference. */
  readonly one: string | null
  readonly inner: readonly Sequence[]
  readonly min: number
  readonly unbounded: boolean
}
type Sequence = readonly Atom[]

/** Some of every common class, so that two atoms can be asked whether they share a character. */
const SAMPLES = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  'é',
  'ß',
  '中',
  '\u00a0',
]

/** False for a pattern that does not compile: another check reports that. */
export function mayBacktrackForever(pattern: string): boolean {
  try {
    new RegExp(pattern, 'iu')
  } catch {
    return false
  }
  const [alternatives] = readAlternatives(pattern, 0)
  return alternatives.some(isRisky)
}

function isRisky(sequence: Sequence): boolean {
  return sequence.some((atom) => (atom.unbounded && isAmbiguous(atom.inner)) || atom.inner.some(isRisky))
}

/** One round of the group can be read as several, or in several ways. */
function isAmbiguous(alternatives: readonly Sequence[]): boolean {
  if (alternatives.some(hasOpenEnd)) return true
  const singles = alternatives.filter((sequence) => sequence.length === 1).map((sequence) => sequence[0])
  return singles.some((one, at) => singles.slice(at + 1).some((other) => one && other && overlap(one, other)))
}

/** Something repeated, and nothing that must come between two rounds of it. */
function hasOpenEnd(sequence: Sequence): boolean {
  return sequence.some((atom, at) => {
    if (!atom.unbounded && !atom.inner.some(hasOpenEnd)) return false
    return !sequence.some((other, place) => place !== at && other.min > 0 && !overlap(atom, other))
  })
}

function overlap(one: Atom, other: Atom): boolean {
  if (one.one === null || other.one === null) return true
  const [first, second] = [exactly(one.one), exactly(other.one)]
  return first === null || second === null || SAMPLES.some((text) => first.test(text) && second.test(text))
}

function exactly(source: string): RegExp | null {
  try {
    return new RegExp(`^(?:${source})$`, 'iu')
  } catch {
    return null
  }
}

/** The alternatives from `at` to the end or the closing parenthesis, and where that is. */
function readAlternatives(text: string, start: number): readonly [readonly Sequence[], number] {
  const alternatives: Atom[][] = [[]]
  let at = start
  while (at < text.length && text[at] !== ')') {
    if (text[at] === '|') {
      alternatives.push([])
      at += 1
      continue
    }
    const [atom, next] = readAtom(text, at)
    if (atom) alternatives.at(-1)?.push(atom)
    at = next
  }
  return [alternatives, at]
}

function readAtom(text: string, at: number): readonly [Atom | null, number] {
  if (text[at] === '(') {
    const head = /^\((?:\?(?::|<?[=!]|<[^>=!]*>))?/.exec(text.slice(at))?.[0] ?? '('
    const [inner, end] = readAlternatives(text, at + head.length)
    return quantified(text, end + 1, { one: null, inner })
  }
  const [source = text[at] ?? ''] =
    /^(?:\[(?:\\.|[^\]\\])*\]|\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|.)|[\s\S])/i.exec(
      text.slice(at),
    ) ?? []
  const zeroWidth = source === '^' || source === '$' || /^\\b$/i.test(source)
  if (zeroWidth) return [null, at + source.length]
  const one = /^\\(?:[1-9]|k<)/.test(source) ? null : source
  return quantified(text, at + source.length, { one, inner: [] })
}

function quantified(text: string, at: number, atom: Pick<Atom, 'one' | 'inner'>): readonly [Atom, number] {
  const found = /^(?:[*+?]|\{(\d+)(,(\d*))?\})\??/.exec(text.slice(at))
  if (!found) return [{ ...atom, min: 1, unbounded: false }, at]
  const [sign, least, range, most] = found
  const min = least === undefined ? (sign.startsWith('+') ? 1 : 0) : Number(least)
  // A large number of rounds is as good as any number.
  const bound = range === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most)
  const unbounded = least === undefined ? !sign.startsWith('?') : bound > 20
  return [{ ...atom, min, unbounded }, at + sign.length]
}
