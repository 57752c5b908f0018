// Code fences of Markdown, as far as splitting a text needs to know them.

export interface Fence {
  /** The run of backticks or tildes. */
  readonly marker: string
  /** The line that opens it again: the marker and the first word of the info string, if that is short. */
  readonly opening: string
}

const LINE = /^ {0,3}(`{3,}|~{3,})([^\r\n]*)\r?$/

/** The marker and info of a line that is a fence, opening or closing; else null. */
export function fenceLine(line: string): { readonly marker: string; readonly info: string } | null {
  const match = LINE.exec(line)
  if (match === null) return null
  const marker = match[1] ?? ''
  const info = (match[2] ?? '').trim()
  // CommonMark: a backtick in the info string makes it inline code.
  return marker.startsWith('`') && info.includes('`') ? null : { marker, info }
}

export function isClosing(line: string, fence: Fence): boolean {
  const found = fenceLine(line)
  if (found === null || found.info !== '') return false
  return found.marker[0] === fence.marker[0] && found.marker.length >= fence.marker.length
}

/** The fence that is open at the end of `text`, given the one open at its start. */
export function fenceAfter(text: string, before: Fence | null): Fence | null {
  let fence = before
  for (const line of text.split('\n')) {
    if (fence !== null) {
      if (isClosing(line, fence)) fence = null
      continue
    }
    const found = fenceLine(line)
    if (found !== null) fence = { marker: found.marker, opening: found.marker + language(found.info) }
  }
  return fence
}

function language(info: string): string {
  const word = info.split(/\s/)[0] ?? ''
  return word.length <= 20 ? word : ''
}
