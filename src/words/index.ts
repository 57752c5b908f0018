// The texts that people read, by language. The place where a text is made asks `wordsIn` for its words: nothing here
// is global state, so each conversation can have a language of its own.
import type { ReasonCode } from '../contract/message/reasons.ts'
import type { Wording } from '../contract/message/wording.ts'
import { en } from './en.ts'

/** What each language must provide. English sets the keys and the parameters. */
type Catalogue = typeof en

/** A catalogue whose texts carry their origin in their type. */
type Worded<T> = T extends string
  ? Wording
  : T extends (...given: infer Given) => string
    ? (...given: Given) => Wording
    : { readonly [Key in keyof T]: Worded<T[Key]> }

export type Words = Worded<Catalogue>

const CATALOGUES = { en } satisfies Record<string, Catalogue>

export type Language = keyof typeof CATALOGUES

/** Returns the texts of a language. */
export function wordsIn(language: Language = 'en'): Words {
  return CATALOGUES[language] as Words
}

/** Returns the sentence for a reason; null for a code that this version does not know. */
export function reasonIn({ reasons }: Words, code: string): Wording | null {
  return Object.hasOwn(reasons, code) ? reasons[code as ReasonCode] : null
}
