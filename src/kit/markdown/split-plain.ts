// Splits a text that is not Markdown: at paragraphs, lines or spaces, and inside a word only between characters.
import { nextCodePoint, type TextLimit, textEnd } from '../../contract/index.ts'
import { characterPlace } from './places.ts'

type Fits = (part: string) => boolean

/**
 * Returns parts within the limit that together read like the text. No part is empty. `fits`: whether a part fits in the
 * form in which it is sent; null: it is sent as it is.
 */
export function splitPlain(text: string, { size, unit }: TextLimit, fits: Fits | null): readonly string[] {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const most = textEnd(text, size, unit, at)
    const window = fits === null ? most : lastThatFits(text, at, most, fits)
    const end = window >= text.length ? text.length : Math.max(cutIn(text, at, window), at + 1)
    const part = text.slice(at, end).trimEnd()
    if (part !== '') parts.push(part)
    at = afterCut(text, end)
  }
  return parts
}

/** Returns the end of the longest beginning that fits, at most `most` and at least one character. */
function lastThatFits(text: string, from: number, most: number, fits: Fits): number {
  if (fits(text.slice(from, most))) return most
  let good = nextCodePoint(text, from)
  let bad = most
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2)
    if (fits(text.slice(from, middle))) good = middle
    else bad = middle
  }
  return good
}

/**
 * Returns the last paragraph end in the second half of the window, else the last line end there, else the last space.
 */
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

/** Empty lines and one space at the cut are dropped. Indentation is kept. */
function afterCut(text: string, end: number): number {
  let line = end
  for (let at = end; at < Math.min(text.length, end + MOST_BLANK) && /\s/.test(text[at] ?? ''); at += 1) {
    if (text[at] === '\n') line = at + 1
  }
  if (line > end) return line
  return text[end] === ' ' && text[end + 1] !== ' ' ? end + 1 : end
}
