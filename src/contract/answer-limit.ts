// How long an answer of an agent may be, whatever connector reaches it: more would flood a chat.

export const MOST_ANSWER_CHARS = 100_000

const MARK = ` …\n\n(cut: the answer was longer than ${MOST_ANSWER_CHARS} characters)`

/** The text, or its beginning with a mark that says so. Never longer than the limit. */
export function cutAnswer(text: string): string {
  if (text.length <= MOST_ANSWER_CHARS) return text
  const end = MOST_ANSWER_CHARS - MARK.length
  const last = text.charCodeAt(end - 1)
  // Half of a surrogate pair is no character.
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end).trimEnd() + MARK
}
