// A text as a tree: what the kit's reader makes of Markdown, and what each platform renders in its own form. Plain data.
import { type TextUnit, textSize } from './text-limit.ts'

export type MarkdownInline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  /** The end of a line: in a chat it is meant, with or without two spaces before it. */
  | { readonly kind: 'break' }
  | {
      readonly kind: 'strong' | 'emphasis' | 'strike'
      readonly children: readonly MarkdownInline[]
      /** Emphasis that was written with underscores: elsewhere than in Markdown the two do not mean the same. */
      readonly mark?: '_'
    }
  /** `href` leads to http, https or mailto; any other link is text. */
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
  /** As it was written, where the block stands whole and says the same by itself. */
  readonly source?: string
}

/** A text in a platform's own form. */
export interface RenderedText {
  readonly text: string
  /** The same for when the platform does not take the form. */
  readonly plain: string
  /** What the platform counts of `text`, where that is not all of it (HTML: without tags, entities read). */
  readonly counted?: string
}

/** Pure, never throws, and does work in proportion to the tree, whatever is in it: the platform suite holds it to that. */
export interface MarkdownRenderer {
  render(blocks: readonly MarkdownBlock[]): RenderedText
  /**
   * A text that is no Markdown, in a form that shows it as it is written; that of a beginning is never longer. Absent: such
   * a text goes out as it is.
   */
  literal?(text: string): RenderedText
}

/** How much of a limit it takes: the form that is sent, as the platform counts it, and the plain one in its place. */
export function renderedSize({ text, plain, counted = text }: RenderedText, unit: TextUnit): number {
  return Math.max(textSize(counted, unit), textSize(plain, unit))
}
