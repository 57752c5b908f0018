// Finds patterns that take more than linear time. It parses each pattern and feeds it many repetitions of what it
// repeats.
import { createContext, Script } from 'node:vm'

type Part =
  /** A pattern that takes one character. */
  | { readonly kind: 'one'; readonly source: string }
  /** A pattern that takes nothing: an edge of a line or a word, a look ahead or back. */
  | { readonly kind: 'edge'; readonly inside: readonly (readonly Part[])[] }
  | { readonly kind: 'group'; readonly inside: readonly (readonly Part[])[] }
  | { readonly kind: 'many'; readonly of: Part; readonly least: number; readonly most: number }

/** Parses a pattern that TypeScript has accepted. So it need not find errors. */
function partsOf(source: string): readonly (readonly Part[])[] {
  let at = 0
  const next = (form: RegExp): string | null => {
    form.lastIndex = at
    const found = form.exec(source)?.[0] ?? null
    at += found?.length ?? 0
    return found
  }
  const alternatives = (): readonly (readonly Part[])[] => {
    const all: Part[][] = [[]]
    while (at < source.length && source[at] !== ')') {
      if (next(/\|/y) !== null) all.push([])
      else all.at(-1)?.push(repeated(part()))
    }
    return all
  }
  const part = (): Part => {
    if (next(/\^|\$|\\[bB]/y) !== null) return { kind: 'edge', inside: [] }
    const open = next(/\((?:\?(?:[:=!]|<[=!]|<\w+>))?/y)
    if (open === null) {
      const one = next(/\[(?:\\.|[^\]\\])*\]|\\[pPu]\{[^}]*\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\k<\w+>|\\?./isuy)
      return { kind: 'one', source: one ?? '' }
    }
    const inside = alternatives()
    next(/\)/y)
    return { kind: /[=!]$/.test(open) ? 'edge' : 'group', inside }
  }
  const repeated = (of: Part): Part => {
    const sign = next(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y)
    if (sign === null) return of
    const [, least = '', more, most = ''] = /^\{(\d+)(,(\d*))?/.exec(sign) ?? []
    if (least !== '')
      return {
        kind: 'many',
        of,
        least: +least,
        most: more === undefined ? +least : most === '' ? Infinity : +most,
      }
    return { kind: 'many', of, least: sign[0] === '+' ? 1 : 0, most: sign[0] === '?' ? 1 : Infinity }
  }
  return alternatives()
}

/** A beginning, a word to repeat after it, and an end. */
export type Pump = readonly [before: string, word: string, after: string]

/**
 * Inputs that may be slow for the pattern: everything that it repeats, at that place, with repeated ways to reach it.
 */
function pumpsFor({ source, flags }: RegExp): readonly Pump[] {
  const taken = new Map<string, readonly string[]>()
  const charactersOf = (one: string): readonly string[] => {
    const known = taken.get(one) ?? charactersTaken(one, flags)
    taken.set(one, known)
    return known
  }
  const sample = (part: Part): string => {
    if (part.kind === 'edge') return ''
    if (part.kind === 'one') return charactersOf(part.source)[0] ?? ''
    if (part.kind === 'group') return (part.inside[0] ?? []).map(sample).join('')
    return sample(part.of).repeat(Math.min(part.least, FEW))
  }
  const tree = partsOf(source)
  const ones = [...new Set(tree.flat().flatMap(onesOf))]
  /** The pattern's view of each character. Characters that it does not distinguish are tried once. */
  const look = new Map(
    CHARACTERS.concat(ones.flatMap((one) => charactersOf(one)[0] ?? [])).map((character) => [
      character,
      ones.map((one) => +charactersOf(one).includes(character)).join('') + +LINE_END.test(character),
    ]),
  )
  const pumps = new Map<string, Pump>()
  const add = (before: string, word: string) => {
    if (word === '') return
    for (const end of ['', '\u0001', '\n'])
      pumps.set(JSON.stringify([before, word, end]), [before, word, end])
  }
  const pump = (of: Part, before: string) => {
    const words = new Map(
      onesOf(of)
        .flatMap(charactersOf)
        .map((character) => [look.get(character), character]),
    )
    const whole = of.kind === 'group' ? of.inside.map((one) => one.map(sample).join('')) : []
    for (const word of [...words.values(), ...whole]) {
      add(before, word)
      add('', word)
      add('', before + word)
    }
    add('', before)
  }
  const visit = (alternatives: readonly (readonly Part[])[], start: string): void => {
    for (const parts of alternatives) {
      let before = start
      for (const part of parts) {
        if (part.kind === 'many' && part.most > FEW) pump(part.of, before)
        if (part.kind !== 'one') visit(part.kind === 'many' ? [[part.of]] : part.inside, before)
        before += sample(part)
      }
    }
  }
  visit(tree, '')
  return [...pumps.values()]
}

function onesOf(part: Part): readonly string[] {
  if (part.kind === 'one') return [part.source]
  return part.kind === 'many' ? onesOf(part.of) : part.inside.flat().flatMap(onesOf)
}

/** The characters that match. If `one` is a plain character, it is first. */
function charactersTaken(one: string, flags: string): readonly string[] {
  // A back reference takes what was taken before, so it has no characters of its own.
  if (/^\\(?:[1-9]|k<)/.test(one)) return []
  const form = new RegExp(`^(?:${one})$`, flags.replace(/[gym]/g, ''))
  return [one.replace(/^\\/, ''), ...CHARACTERS].filter((character) => form.test(character))
}

/** One character of each kind that patterns distinguish, and all that look like a space or a line break. */
const CHARACTERS = [
  ...'a \n-.:/<>()[]{}"\'`*_~|\\#&@=+?!,;%$^1',
  ...['\t', '\r', '\v', '\f', '\u0085', '\u00a0', '\u2003', '\u2028', '\u2029', '\ufeff', '\u200b', '\u0001'],
  ...'AefiosxzZ09éя写：😀',
]
const LINE_END = /[\n\r\u2028\u2029]/
/** Repetitions up to this count are too short for an attack. */
const FEW = 100

/** Linear patterns take at most a tenth of these processor times. Others take several times as much. */
const TRIALS = [
  { size: 10_000, mostMs: 5 },
  { size: 80_000, mostMs: 300 },
]

/** Returns the input that makes the pattern slow, or undefined if none was found. */
export function slowPump(pattern: RegExp): Pump | undefined {
  return pumpsFor(pattern).find((pump) =>
    TRIALS.every(({ size, mostMs }) => {
      const text = textOf(pump, size)
      return !ends(mostMs, () => pass(pattern, text))
    }),
  )
}

/** Repeats a long word less often, in a longer text. Quadratic work then takes as long as for one letter. */
function textOf([before, word, after]: Pump, size: number): string {
  return before + word.repeat(Math.ceil(size / Math.sqrt(word.length))) + after
}

/** Finds all matches as a replacement does. A sticky pattern is tried at each place. */
function pass(pattern: RegExp, text: string): void {
  if (!pattern.sticky) text.replace(pattern, '')
  for (let at = 0; pattern.sticky && at < text.length; at = Math.max(at + 1, pattern.lastIndex)) {
    pattern.lastIndex = at
    pattern.test(text)
  }
}

const context = createContext({ work: () => {} })
const script = new Script('work()')

/** Whether the work ends within this processor time. A pattern that would never end is stopped. */
function ends(mostMs: number, work: () => void): boolean {
  context.work = work
  // On a busy machine the process gets only a part of the elapsed time, so the time-out grows.
  for (let timeout = mostMs + 5; ; timeout *= 2) {
    const began = process.cpuUsage()
    try {
      script.runInContext(context, { timeout })
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
      if (process.cpuUsage(began).user > mostMs * 1_000) return false
    }
  }
}
