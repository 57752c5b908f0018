// A text in the form that a platform receives. The splitter measures this form and adapters send it, so a part that was
// cut to fit does fit.
import {
  type MarkdownBlock,
  type MarkdownRenderer,
  type RenderedText,
  SwitchboardError,
  type TextLimit,
  textSize,
} from '../../contract/index.ts'
import { readMarkdown } from './read.ts'

/** A text as it is sent: Markdown, or shown as written. */
export interface Said {
  readonly text: string
  readonly plain?: boolean
}

export function sentForm({ text, plain }: Said, renderer: MarkdownRenderer): RenderedText {
  return plain ? literalForm(text, renderer) : readForm(text, readMarkdown(text), renderer)
}

/** A text of markup only (an empty fence) is shown as written, because an empty message would be refused. */
export function readForm(
  text: string,
  read: readonly MarkdownBlock[],
  renderer: MarkdownRenderer,
): RenderedText {
  const form = renderer.render(read)
  return (form.counted ?? form.text).trim() === '' ? literalForm(text, renderer) : form
}

export function literalForm(text: string, renderer: MarkdownRenderer): RenderedText {
  const shown = text.trim() === '' ? '…' : text
  return renderer.literal?.(shown) ?? { text: shown, plain: shown }
}

/**
 * Returns the whole text. Throws `platform_rejected` naming the limit after `whose`: a part is never shown as the
 * whole.
 */
export function wholeForm(
  said: Said,
  limit: TextLimit,
  renderer: MarkdownRenderer,
  whose: string,
): RenderedText {
  const form = sentForm(said, renderer)
  const size = textSize(form.counted ?? form.text, limit.unit)
  if (size <= limit.size) return form
  throw new SwitchboardError(
    'platform_rejected',
    `${whose}a message may have ${limit.size} characters, this one has ${size}`,
    { hint: 'make it shorter, or say the rest in a new message' },
  )
}
