// Cuts text by code points, so that no cut text ends in half a character.
import { textEnd, textSize } from '../contract/index.ts'

export function codePointLength(text: string): number {
  return textSize(text, 'code-points')
}

/** Returns the first `max` code points, and `…` if there are more. 0 means no limit. */
export function truncate(text: string, max: number): string {
  if (max <= 0 || text.length <= max) return text
  const end = textEnd(text, max, 'code-points')
  return end >= text.length ? text : `${text.slice(0, end)}…`
}
