// An agent's text as an approver reads it. Characters that are invisible, reorder text or overwrite it are written out
// by number. Nothing is omitted, so an approver reads exactly what is allowed.
//
// These are controls except line break and tab, separators, and format characters: direction marks, zero width, soft
// hyphens, tags. Joiners stay, because scripts and emoji need them and they move nothing.
const UNSEEN = /[^\P{Cc}\n\t]|[\u2028\u2029]|[^\P{Cf}\u200c\u200d]|[\ud800-\udfff]/gu

export function shownText(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(UNSEEN, (one) => `[U+${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`)
}

/** The same text in one line. A name or a summary must not look like a line of Switchboard. */
export function shownLine(text: string): string {
  return shownText(text)
    .replace(/(?<!\s)\s*\n\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
}
