// Text of an agent as an approver reads it: what cannot be seen, or would reorder or overwrite what stands around it, is
// written out by its number. Nothing is left out, so that what is allowed is what was read.

// Controls but line break and tab, separators, and everything that only formats: marks of direction, zero width, soft
// hyphens, tags. The joiners stay: scripts and emoji need them, and they move nothing.
const UNSEEN = /[^\P{Cc}\n\t]|[\u2028\u2029]|[^\P{Cf}\u200c\u200d]|[\ud800-\udfff]/gu

export function shownText(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSEEN, (one) => `[U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
}

/** The same in one line: a name or a summary must not look like a line of ours. */
export function shownLine(text: string): string {
  return shownText(text)
    .replace(/(?<!\s)\s*\n\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
}
