// Cuts text by code points: what the model sees never ends in half a character.

export function codePointLength(text: string): number {
  let length = 0
  for (let at = 0; at < text.length; at = nextCodePoint(text, at)) length++
  return length
}

/** The unit index after the code point at `at`; a lone surrogate counts as one. */
export function nextCodePoint(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 0xd800 || code > 0xdbff) return at + 1
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? at + 2 : at + 1
}

/** The unit index after `count` code points from `from`, or the text's end. */
export function codePointIndex(text: string, count: number, from = 0): number {
  if (count >= text.length - from) return text.length
  let at = from
  for (let left = count; left > 0 && at < text.length; left--) at = nextCodePoint(text, at)
  return at
}

/** The first `max` code points and `…` when there were more (so max + 1 of them). 0 means no cap. */
export function truncate(text: string, max: number): string {
  if (max <= 0 || text.length <= max) return text
  const end = codePointIndex(text, max)
  return end >= text.length ? text : `${text.slice(0, end)}…`
}
