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

// Nothing inside code, links' targets and escapes is markup.
const MARKS = /```[\s\S]*?```|`[^`\n]*`|\]\([^)\n]*\)|\\[\s\S]|\*+|~+|\|\|/g

/**
 * Escapes, code, links, `_italic_` and quotes are the same in both. Bold and struck are written with one mark there and
 * two here; underlined text comes out bold, and a spoiler, which Markdown has not, without its marks.
 */
function fromMarkdownV2(text: string): string {
  return text.replace(MARKS, (found) => {
    if (found === '*' || found === '~') return found + found
    return found === '||' ? '' : found
  })
}
