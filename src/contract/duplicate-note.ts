// The visible note on a message that may arrive twice, and the room that is kept for it: a part that fills the platform's
// limit must still fit when it has to be sent again.
import { type MarkdownBlock, type RenderedText, renderedSize } from './markdown.ts'
import type { PlatformAdapter } from './platform.ts'
import type { TextLimit, TextUnit } from './text-limit.ts'

// Of ASCII alone: as long in every unit.
export const DUPLICATE_NOTE = '(may be a duplicate: the first copy was never confirmed)\n\n'
/** A limit so small that the note would take most of it is used in full. */
const SMALLEST_SHARED = DUPLICATE_NOTE.length * 4

/** How long one message may be, with room for the note where one could ever be needed. */
export function roomyTextLimit({
  textLimit,
  abilities,
  markdown,
}: Pick<PlatformAdapter, 'textLimit' | 'abilities' | 'markdown'>): TextLimit {
  return abilities.idempotentSend || textLimit.size < SMALLEST_SHARED
    ? textLimit
    : { ...textLimit, size: textLimit.size - noteSize(markdown, textLimit.unit) }
}

/** How much a message grows by it, as Markdown and as plain text. */
function noteSize(markdown: PlatformAdapter['markdown'], unit: TextUnit): number {
  if (markdown === 'written') return DUPLICATE_NOTE.length
  const growth = (form: (...texts: readonly string[]) => RenderedText) =>
    renderedSize(form(DUPLICATE_NOTE.trim(), 'a'), unit) - renderedSize(form('a'), unit)
  const asMarkdown = growth((...texts) => markdown.render(texts.map(paragraph)))
  const asPlain = growth((...texts) => {
    const text = texts.join('\n\n')
    return markdown.literal?.(text) ?? { text, plain: text }
  })
  return Math.max(asMarkdown, asPlain)
}

function paragraph(text: string): MarkdownBlock {
  return { kind: 'paragraph', children: [{ kind: 'text', text }] }
}
