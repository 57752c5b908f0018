// Long texts in lists: a page shows the beginning of each, and asks for the whole of one when somebody reads it.
import { z } from 'zod'

export const chars = z.coerce
  .number<string | number>()
  .int()
  .min(100)
  .max(100_000)
  .optional()
  .describe('Texts that are longer are cut there, and `text_chars` tells how long they are.')

/** `limit` undefined: whole. No character is cut in two. */
export function cutText<View extends object>(view: View, limit: number | undefined): View {
  const { text } = view as { readonly text?: unknown }
  if (limit === undefined || typeof text !== 'string' || text.length <= limit) return view
  const isLead = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '')
  return { ...view, text: text.slice(0, isLead ? limit - 1 : limit), text_chars: text.length }
}
