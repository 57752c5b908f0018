// Splits a long text for a platform's limit: at paragraphs, lines or spaces, never inside a character, and a code
// fence that is cut in two is closed at the end of one part and opened again at the start of the next.
import { type Fence, fenceAfter, fenceLine, isClosing } from './fences.ts'
import { codePointIndex, codePointLength } from './truncate.ts'

/** Below this many code points of room, repairing fences would leave none for the text. */
const MIN_ROOM = 16

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' })

/** Parts of at most `limit` code points that read, one after the other, like the text. No part is empty. */
export function splitText(text: string, { size: limit }: { readonly size: number }): readonly string[] {
  if (limit < 1) throw new RangeError('a text cannot be split into parts of no length')
  if (text.length <= limit || codePointLength(text) <= limit) return text.trim() === '' ? [] : [text]
  const reserve = longestMarker(text)
  const repairs = reserve > 0
  const parts: string[] = []
  let rest = text
  let fence: Fence | null = null
  while (rest !== '') {
    const room = roomFor(fence, limit, reserve)
    const head: string = room.reopen
    if (codePointLength(rest) <= limit - codePointLength(head)) {
      keep(parts, head + rest)
      break
    }
    const cut = chooseCut(rest, repairs ? room.text : limit, fence, repairs)
    const taken = rest.slice(0, cut)
    const after: Fence | null = repairs ? fenceAfter(taken, fence) : null
    const closing: string =
      after !== null && room.repair && roomFor(after, limit, reserve).repair ? `\n${after.marker}` : ''
    keep(parts, head + trimCut(taken, after !== null) + closing)
    rest = trimStart(rest.slice(cut), after !== null && !taken.endsWith('\n') ? 'line end' : after)
    fence = closing === '' ? null : after
    // The part before closed the fence already: a closing line that comes next would open a new one.
    if (fence !== null && isClosing(firstLine(rest), fence)) {
      rest = trimStart(rest.slice(firstLine(rest).length), null)
      fence = null
    }
  }
  return parts
}

interface Room {
  readonly reopen: string
  readonly text: number
  readonly repair: boolean
}

/** What a part that starts inside `fence` spends on repairs, with one closing line always held in reserve. */
function roomFor(fence: Fence | null, limit: number, reserve: number): Room {
  const reopen = fence === null ? '' : `${fence.opening}\n`
  const text = limit - codePointLength(reopen) - reserve - 1
  if (text < MIN_ROOM) return { reopen: '', text: limit, repair: false }
  return { reopen, text, repair: true }
}

function chooseCut(rest: string, room: number, fence: Fence | null, repairs: boolean): number {
  const window = codePointIndex(rest, room)
  const cut = naturalCut(rest, window) ?? graphemeCut(rest, window)
  return repairs ? awayFromFenceLine(rest, cut, fence) : cut
}

/** The last paragraph end in the second half of the window, else the last line end there, else the last space. */
function naturalCut(rest: string, window: number): number | null {
  const least = Math.floor(window / 2)
  for (const separator of ['\n\n', '\n', ' ']) {
    const at = rest.lastIndexOf(separator, window)
    if (at > 0 && at >= least) return Math.min(at + separator.length, window)
  }
  return null
}

function graphemeCut(rest: string, window: number): number {
  const whole = graphemes.segment(rest.slice(0, window + 64)).containing(window)
  return whole !== undefined && whole.index > 0 ? whole.index : window
}

/** Never cuts a fence line in two, and leaves no opening line alone at the end of a part. */
function awayFromFenceLine(rest: string, cut: number, fence: Fence | null): number {
  const lineStart = rest.lastIndexOf('\n', cut - 1) + 1
  if (lineStart > 0 && lineStart < cut && fenceLine(firstLine(rest.slice(lineStart))) !== null) {
    return lineStart
  }
  const taken = rest.slice(0, cut).trimEnd()
  const lastStart = taken.lastIndexOf('\n') + 1
  const opens =
    fenceLine(taken.slice(lastStart)) !== null && fenceAfter(taken.slice(0, lastStart), fence) === null
  return opens && lastStart > 0 ? lastStart : cut
}

function firstLine(text: string): string {
  const end = text.indexOf('\n')
  return end === -1 ? text : text.slice(0, end)
}

// Inside a fence the indentation is content, so only the line end at the cut goes.
function trimCut(text: string, inFence: boolean): string {
  return inFence ? text.replace(/\r?\n$/, '') : text.trimEnd()
}

function trimStart(text: string, inside: Fence | 'line end' | null): string {
  if (inside === 'line end') return text.replace(/^\r?\n/, '')
  return inside === null ? text.replace(/^\s*\n/, '').replace(/^ (?! )/, '') : text
}

/** The length of the longest run that a cut before it would make a fence marker, 0 when the text has none. */
function longestMarker(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`{3,}|~{3,}/g)) longest = Math.max(longest, run.length)
  return longest
}

function keep(parts: string[], part: string): void {
  if (part.trim() !== '') parts.push(part)
}
