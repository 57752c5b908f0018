// `format` of reply and edit_message, as the official plugins have it: a text is Markdown unless it says otherwise.
import { z } from 'zod'

export const FORMAT = z
  .enum(['text', 'markdownv2'])
  .optional()
  .describe(
    'Leave it out for Markdown. text: shown exactly as written. markdownv2: Telegram’s MarkdownV2, shown as Markdown.',
  )

/** What is said, in the one form that platforms know: Markdown, or plain. */
export function saidAs(
  text: string,
  format: z.output<typeof FORMAT>,
): { readonly text: string; readonly plain?: true } {
  if (format === 'text') return { text, plain: true }
  return { text: format === 'markdownv2' ? fromMarkdownV2(text) : text }
}

// Nothing inside code, links' targets and escapes is markup. No pattern looks for the end of a target: each of many that
// have none would look through all that follows.
const MARKS = /```[\s\S]*?```|`[^`\n]*`|\]\(|\\[\s\S]|\*+|~+|\|\|/g

/**
 * Escapes, code, links, `_italic_` and quotes are the same in both. Bold and struck are written with one mark there and
 * two here; underlined text comes out bold, and a spoiler, which Markdown has not, without its marks.
 */
function fromMarkdownV2(text: string): string {
  const marks = new RegExp(MARKS)
  const nextEnd = createFinder(text, ')')
  const nextLine = createFinder(text, '\n')
  const pieces: string[] = []
  let kept = 0
  for (let found = marks.exec(text); found !== null; found = marks.exec(text)) {
    const [mark] = found
    if (mark === '](') {
      const end = nextEnd(marks.lastIndex)
      if (end < nextLine(marks.lastIndex)) marks.lastIndex = end + 1
    } else if (mark === '*' || mark === '~' || mark === '||') {
      pieces.push(text.slice(kept, found.index), mark === '||' ? '' : mark + mark)
      kept = marks.lastIndex
    }
  }
  return pieces.join('') + text.slice(kept)
}

/** Where it stands next, from a place that only moves on; the length of the text where it does not. Each place is looked at once. */
function createFinder(text: string, wanted: string): (from: number) => number {
  let at = -1
  return (from) => {
    if (at < from) at = text.indexOf(wanted, from)
    if (at === -1) at = text.length
    return at
  }
}
