// The entry `switchboard/markdown`: the reader of Markdown, and parts for a platform's own renderer.
export type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownInline,
  MarkdownItem,
  MarkdownRenderer,
  RenderedText,
} from './contract/index.ts'
export { plainText, readMarkdown, safeHref, sentForm, textTable } from './kit/markdown/index.ts'
