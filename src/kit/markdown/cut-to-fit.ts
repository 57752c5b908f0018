// Cuts a text of our own to one message. The outlet does not cut such texts.
import { type MarkdownRenderer, renderedSize, type TextLimit, textSize } from '../../contract/index.ts'
import { type Said, sentForm } from './sent-form.ts'
import { splitText } from './split.ts'

const CUT_NOTE = '\n\n…'

/** Returns the part that fits into one message, with a mark where it is cut. */
export function cutToFit(said: Said, limit: TextLimit, renderer: MarkdownRenderer): Said {
  if (renderedSize(sentForm(said, renderer), limit.unit) <= limit.size) return said
  const room = { ...limit, size: limit.size - textSize(CUT_NOTE, limit.unit) }
  const [first = ''] = splitText(said, room, renderer)
  return { ...said, text: first + CUT_NOTE }
}
