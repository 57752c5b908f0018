// Flags that no command declares, because a module asks for them: `--token 1:a`, `--base-url=URL`.

import { usage } from './failure.ts'
import { oneLine } from './output/text.ts'

/** `--token 1:a --label=x telegram` → the flags, and the words between them. */
export function readFlags(words: readonly string[]): {
  readonly flags: ReadonlyMap<string, string>
  readonly rest: readonly string[]
} {
  const flags = new Map<string, string>()
  const rest: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!word.startsWith('--')) {
      if (word.startsWith('-')) throw usage('a flag begins with two dashes', 'see what it takes with --help')
      rest.push(word)
      continue
    }
    const cut = word.indexOf('=')
    const name = cut < 0 ? word.slice(2) : word.slice(2, cut)
    const value = cut < 0 ? words[++at] : word.slice(cut + 1)
    if (value === undefined) throw usage(`--${oneLine(name)} needs a value`)
    if (flags.has(name)) throw usage(`--${oneLine(name)} is given twice`)
    flags.set(name, value)
  }
  return { flags, rest }
}

const GLOBAL = ['json', 'config', 'data', 'name', 'color']

/** The declared options that answer a module's question, as they are typed: `baseUrl` is `base-url`. */
export function typedFlags(options: object, own: readonly string[]): ReadonlyMap<string, string> {
  const answers = Object.entries(options).filter(([key]) => !own.includes(key) && !GLOBAL.includes(key))
  return new Map(
    answers.map(([key, value]) => [
      key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
      String(value),
    ]),
  )
}
