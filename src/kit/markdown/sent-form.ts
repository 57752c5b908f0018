// A text in the form in which a platform is sent it. The splitter measures what this gives and adapters send it: so what was
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

/** A text as it is said: Markdown, or shown as it is written. */
export interface Said {
  readonly text: string
  readonly plain?: boolean
}

export function sentForm({ text, plain }: Said, renderer: MarkdownRenderer): RenderedText {
  return plain ? literalForm(text, renderer) : readForm(text, readMarkdown(text), renderer)
}

/** Nothing but markup (an empty fence): better shown as it was written than refused as empty. */
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

/** All of it. Throws `platform_rejected` naming the limit, behind `whose`: nobody is shown a part as the whole. */
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
