// The length limit of one message, in the unit that the platform counts in.

export type TextUnit = 'code-points' | 'utf-16' | 'bytes'

export interface TextLimit {
  /** Infinity: no limit. */
  readonly size: number
  readonly unit: TextUnit
}

export const NO_TEXT_LIMIT: TextLimit = { size: Number.POSITIVE_INFINITY, unit: 'utf-16' }

/** Returns the size of a text. A lone surrogate counts as the replacement character that is sent for it. */
export function textSize(text: string, unit: TextUnit): number {
  if (unit === 'utf-16') return text.length
  let size = 0
  for (let at = 0; at < text.length; at = nextCodePoint(text, at)) size += pointSize(text, at, unit)
  return size
}

/**
 * Returns the end of the longest prefix of `text` (from `from`) that takes at most `size` and splits no character.
 */
export function textEnd(text: string, size: number, unit: TextUnit, from = 0): number {
  let left = size
  let at = from
  while (at < text.length) {
    left -= pointSize(text, at, unit)
    if (left < 0) return at
    at = nextCodePoint(text, at)
  }
  return text.length
}

/** Returns the index after the code point at `at`; a lone surrogate counts as one. */
export function nextCodePoint(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code < 0xd800 || code > 0xdbff) return at + 1
  const next = text.charCodeAt(at + 1)
  return next >= 0xdc00 && next <= 0xdfff ? at + 2 : at + 1
}

function pointSize(text: string, at: number, unit: TextUnit): number {
  if (unit === 'code-points') return 1
  const wide = nextCodePoint(text, at) - at === 2
  if (unit === 'utf-16') return wide ? 2 : 1
  const code = text.charCodeAt(at)
  return wide ? 4 : code < 0x80 ? 1 : code < 0x800 ? 2 : 3
}
