// Makes foreign text safe for a terminal. A chat message must not move the cursor, set a title, forge a table row or
// reorder the text.

// C0 and C1 controls, delete, line and paragraph separators, and the marks that reorder text.
const UNSAFE = /[\p{Cc}\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** One line: a run of line breaks becomes `⏎`, a tab becomes a space, every other control becomes `�`. */
export function oneLine(text: string): string {
  return text
    .replace(/(?<![ \t])[ \t]*[\n\r\u2028\u2029]\s*/g, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(UNSAFE, '�')
}

/** Keeps line breaks. Other characters are treated as in `oneLine`. */
export function safeLines(text: string): string {
  return text
    .split(/\r\n|[\n\r]/)
    .map((line) => line.replace(/\t/g, '  ').replace(UNSAFE, '�'))
    .join('\n')
}
