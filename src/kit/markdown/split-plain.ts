// Splits a text that is no Markdown: at paragraphs, lines or spaces, and inside a word only between characters.
import { type TextLimit, textEnd } from '../../contract/index.ts'
import { characterPlace } from './places.ts'

/** Parts within the limit that read, one after the other, like the text. No part is empty. */
export function splitPlain(text: string, { size, unit }: TextLimit): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const window = textEnd(text, size, unit, at)
    const end = window >= text.length ? text.length : Math.max(cutIn(text, at, window), at + 1)
    const part = text.slice(at, end).trimEnd()
    if (part !== '') parts.push(part)
    at = afterCut(text, end)
  }
  return parts
}

/** The last paragraph end in the second half of the window, else the last line end there, else the last space. */
function cutIn(text: string, from: number, window: number): number {
  const inside = text.slice(from, window + 1)
  const least = (window - from) / 2
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = inside.lastIndexOf(separator)
    if (at > 0 && at >= least) return Math.min(from + at + separator.length, window)
  }
  const place = characterPlace(text, window)
  return place > from ? place : window
}

const MOST_BLANK = 1_000

/** Empty lines, and the one space, at the cut are said by the cut. Indentation is not. */
function afterCut(text: string, end: number): number {
  let line = end
  for (let at = end; at < Math.min(text.length, end + MOST_BLANK) && /\s/.test(text[at] ?? ''); at += 1) {
    if (text[at] === '\n') line = at + 1
  }
  if (line > end) return line
  return text[end] === ' ' && text[end + 1] !== ' ' ? end + 1 : end
}
