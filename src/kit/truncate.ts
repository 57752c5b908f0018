// Cuts text by code points: what the model sees never ends in half a character.
import { textEnd, textSize } from '../contract/index.ts'

export function codePointLength(text: string): number {
  return textSize(text, 'code-points')
}

/** The first `max` code points and `…` when there were more (so max + 1 of them). 0 means no cap. */
export function truncate(text: string, max: number): string {
  if (max <= 0 || text.length <= max) return text
  const end = textEnd(text, max, 'code-points')
  return end >= text.length ? text : `${text.slice(0, end)}…`
}
