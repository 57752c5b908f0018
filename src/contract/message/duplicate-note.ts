// The visible note on a message that may arrive twice, and the room that is kept for it: a part that fills the platform's
// limit must still fit when it has to be sent again.

import type { PlatformAdapter } from '../platform/platform.ts'
import { type MarkdownBlock, type RenderedText, renderedSize } from './markdown.ts'
import type { OutboundOp } from './message.ts'
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

/** The same with the note, once. Null: it cannot carry one, or must not be sent twice. */
export function labelled(op: OutboundOp): OutboundOp | null {
  switch (op.kind) {
    case 'text':
      // Its words are the platform's: it cannot carry the note.
      if (op.template || op.once || op.partial) return null
      if (op.asFile) return noteBeside(op, op.asFile)
      return { ...op, text: noted(op.text) }
    case 'prompt':
      return { ...op, text: noted(op.text) }
    case 'file':
      return { ...op, caption: noted(op.caption ?? '') }
    // Done twice they show nothing twice.
    case 'edit':
    case 'react':
      return op
    // What a tool did, only its server knows: it is never called again by guess.
    case 'call':
      return null
  }
}

/** A text that is shown as a file: nobody opens it to learn that it may be a second copy. */
function noteBeside(
  op: Extract<OutboundOp, { kind: 'text' }>,
  { name, caption }: { readonly name: string; readonly caption: string },
): OutboundOp {
  return { ...op, asFile: { name, caption: noted(caption) } }
}

function noted(text: string): string {
  return text.startsWith(DUPLICATE_NOTE) ? text : DUPLICATE_NOTE + text
}
