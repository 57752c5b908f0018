// The length limit of an agent's answer, for every connector. Longer answers would flood a chat.

export const MOST_ANSWER_CHARS = 100_000

export function cutAnswer(text: string): string {
  return cutText(text, MOST_ANSWER_CHARS, 'answer')
}

/** Returns the text, or its beginning with a mark that it was cut. Never longer than `most`. */
export function cutText(text: string, most: number, what: string): string {
  if (text.length <= most) return text
  const mark = ` …\n\n(cut: the ${what} was longer than ${most} characters)`
  const end = most - mark.length
  const last = text.charCodeAt(end - 1)
  // Half of a surrogate pair is not a character.
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end).trimEnd() + mark
}
