// What strangers wrote, as part of a row that a model reads: a name, an id or a text must not look like another row.

// Everything that some reader takes for the end of a line: vertical tab, form feed and U+0085 among them.
const BREAKS = /[\n\r\v\f\u0085\u2028\u2029]+/g

/** Line breaks, a run of them, become `⏎`, tabs a space, other controls `�`. */
export function oneLine(text: string): string {
  return text
    .replace(BREAKS, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(/\p{Cc}/gu, '�')
}
