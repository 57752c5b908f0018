// Words of a configuration file that may be repeated to a person, judged by their form alone.
export const MASK = '•••'

const REFERENCE = /^(env:[A-Za-z_]\w*|secret:[\w.-]+)$/
const NAME = /^[\w.<$-]+/
const LONGEST_NAME = 40
const LONGEST_TEXT = 500
// Line breaks of every kind, and what a terminal obeys or does not show.
const CONTROL = /[\p{C}\p{Zl}\p{Zp}]/u
/** `https://user:password@host`, `user:password@host`, `https://host/?key`. */
const CREDENTIAL = /:[^\s:]*@|:\/\/(?:(?!:\/\/)\S)*[?#]/
/** A further `key: value` that got into a text, because a space, a quote or a comma was forgotten. */
const ASSIGNMENT = /[\s,;&?#|([{]["']?[\w.-]+["']?\s*[:=]/
const FIRST_WORD = /^["']?([\w.-]+)["']?\s*[:=]/

export function isReference(text: string): boolean {
  return REFERENCE.test(text)
}

/**
 * A name that a person wrote, for a message. What is no name, or could be a credential in place of one, is not repeated;
 * but where it begins with one of `known`, that is: `token:1234` is a key without its space.
 */
export function shownName(name: string, known: readonly string[] = []): string {
  const word = NAME.exec(name)?.[0] ?? ''
  if (word !== name) return known.includes(word) ? `${word}…` : MASK
  const isCredential = word.length >= 16 && /[A-Za-z]/.test(word) && /\d.*\d.*\d/.test(word)
  return word.length > LONGEST_NAME || isCredential ? MASK : name
}

/** Whether a value of a key that is not secret can be shown: it is one line, no address with a credential, and no other key got into it. */
export function isHarmlessText(text: string, isKey: (word: string) => boolean): boolean {
  if (text.length > LONGEST_TEXT || CONTROL.test(text)) return false
  return !CREDENTIAL.test(text) && !ASSIGNMENT.test(text) && !isKey(FIRST_WORD.exec(text)?.[1] ?? '')
}
