// Text of strangers inside a line that a model reads. A name, an id or a text must not look like another line.
//
// The pattern covers every character that some reader takes for a line end, including vertical tab, form feed and
// U+0085.
const BREAKS = /[\n\r\v\f\u0085\u2028\u2029]+/g

/** Returns the text in one line. Each run of line breaks becomes `⏎`, a tab a space, and other controls `�`. */
export function oneLine(text: string): string {
  return text
    .replace(BREAKS, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(/\p{Cc}/gu, '�')
}
