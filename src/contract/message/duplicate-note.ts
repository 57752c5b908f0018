// The visible note on a message that may arrive twice, and the space reserved for it. A part that fills the platform's
// limit must still fit when it is sent again.

import type { Abilities, MarkdownForm } from '../platform/platform.ts'
import { type MarkdownBlock, type RenderedText, renderedSize } from './markdown.ts'
import type { OutboundOp } from './message.ts'
import type { TextLimit, TextUnit } from './text-limit.ts'

// ASCII only, so it has the same length in every unit.
export const DUPLICATE_NOTE = '(may be a duplicate: the first copy was never confirmed)\n\n'
/** A limit so small that the note would take most of it is used in full. */
const SMALLEST_SHARED = DUPLICATE_NOTE.length * 4

/** Returns the length limit of one message, minus space for the note where one may be needed. */
export function roomyTextLimit({ textLimit, idempotentSend, markdown = 'written' }: Abilities): TextLimit {
  return idempotentSend || textLimit.size < SMALLEST_SHARED
    ? textLimit
    : { ...textLimit, size: textLimit.size - noteSize(markdown, textLimit.unit) }
}

/** How much the note adds to a message, as Markdown and as plain text. */
function noteSize(markdown: MarkdownForm, unit: TextUnit): number {
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

/** Returns the op with the note, once. Null: it cannot carry a note, or must not be sent twice. */
export function labelled(op: OutboundOp): OutboundOp | null {
  switch (op.kind) {
    case 'text':
      // The platform owns the text of a template, so it cannot carry the note.
      if (op.template || op.once || op.partial) return null
      if (op.asFile) return noteBeside(op, op.asFile)
      return { ...op, text: noted(op.text) }
    case 'prompt':
      return { ...op, text: noted(op.text) }
    case 'file':
      return { ...op, caption: noted(op.caption ?? '') }
    // A repetition shows no second copy.
    case 'edit':
    case 'react':
      return op
    // Only the server knows what the tool did, so it is never called again on a guess.
    case 'call':
      return null
  }
}

/** For a text shown as a file, the note goes into the caption, because a reader sees it without opening the file. */
function noteBeside(
  op: Extract<OutboundOp, { kind: 'text' }>,
  { name, caption }: { readonly name: string; readonly caption: string },
): OutboundOp {
  return { ...op, asFile: { name, caption: noted(caption) } }
}

function noted(text: string): string {
  return text.startsWith(DUPLICATE_NOTE) ? text : DUPLICATE_NOTE + text
}
