// `format` of reply and edit_message, as in the official plugins. A text is Markdown by default.
import { z } from 'zod'

export const FORMAT = z
  .enum(['text', 'markdownv2'])
  .optional()
  .describe(
    'Leave it out for Markdown. text: shown exactly as written. markdownv2: Telegram’s MarkdownV2, shown as Markdown.',
  )

/** Returns the text as Markdown or plain text, the forms of platforms. */
export function saidAs(
  text: string,
  format: z.output<typeof FORMAT>,
): { readonly text: string; readonly plain?: true } {
  if (format === 'text') return { text, plain: true }
  return { text: format === 'markdownv2' ? fromMarkdownV2(text) : text }
}

// Text inside code, link targets and escapes is not markup. The pattern does not search the end of a target, because
// many targets without an end would make that quadratic.
const MARKS = /```[\s\S]*?```|`[^`\n]*`|\]\(|\\[\s\S]|\*+|~+|\|\|/g

/**
 * Escapes, code, links, `_italic_` and quotes are the same in both. Bold and strikethrough have one mark there and two
 * here. Underlined text becomes bold, and a spoiler loses its marks.
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

/** Finds the next occurrence from a place that only moves on. Each place is searched once. */
function createFinder(text: string, wanted: string): (from: number) => number {
  let at = -1
  return (from) => {
    if (at < from) at = text.indexOf(wanted, from)
    if (at === -1) at = text.length
    return at
  }
}
