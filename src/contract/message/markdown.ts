// A text as a tree. The kit's reader produces it from Markdown, and each platform renders it in its own form. Plain
// data.
import { type TextUnit, textSize } from './text-limit.ts'

export type MarkdownInline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  /** The end of a line. In a chat it is intended, with or without two spaces before it. */
  | { readonly kind: 'break' }
  | {
      readonly kind: 'strong' | 'emphasis' | 'strike'
      readonly children: readonly MarkdownInline[]
      /** Emphasis with underscores. Outside Markdown, underscores and asterisks differ in meaning. */
      readonly mark?: '_'
    }
  /** `href` uses http, https or mailto; any other link is text. */
  | { readonly kind: 'link'; readonly href: string; readonly children: readonly MarkdownInline[] }
  | { readonly kind: 'image'; readonly href: string; readonly alt: string }

export type MarkdownCell = readonly MarkdownInline[]

export interface MarkdownItem {
  /** Present in a task list. */
  readonly checked?: boolean
  readonly children: readonly MarkdownBlock[]
}

export type MarkdownBlock = (
  | { readonly kind: 'paragraph'; readonly children: readonly MarkdownInline[] }
  | { readonly kind: 'heading'; readonly level: number; readonly children: readonly MarkdownInline[] }
  /** `language` is one word, or empty. */
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly children: readonly MarkdownBlock[] }
  | {
      readonly kind: 'list'
      readonly ordered: boolean
      readonly start: number
      readonly items: readonly MarkdownItem[]
    }
  | {
      readonly kind: 'table'
      readonly align: readonly ('left' | 'center' | 'right' | null)[]
      readonly header: readonly MarkdownCell[]
      /** Each as long as the header. */
      readonly rows: readonly (readonly MarkdownCell[])[]
    }
  | { readonly kind: 'rule' }
) & {
  /** The original text, if the block is complete and means the same by itself. */
  readonly source?: string
}

/** A text in a platform's own form. */
export interface RenderedText {
  readonly text: string
  /** The plain form, for when the platform refuses the rich one. */
  readonly plain: string
  /**
   * The part of `text` that the platform counts, if that is not all of it (HTML: without tags, with entities decoded).
   */
  readonly counted?: string
}

/** Pure, never throws, and takes time linear in the size of the tree. The platform suite checks this. */
export interface MarkdownRenderer {
  render(blocks: readonly MarkdownBlock[]): RenderedText
  /**
   * Returns text that is not Markdown in a form that shows it literally. The form of a prefix is never longer. Absent:
   * such a text is sent unchanged.
   */
  literal?(text: string): RenderedText
}

/** Returns the used part of a limit: the larger of the rich form, as the platform counts it, and the plain form. */
export function renderedSize({ text, plain, counted = text }: RenderedText, unit: TextUnit): number {
  return Math.max(textSize(counted, unit), textSize(plain, unit))
}
