// The door `switchboard/markdown`: the one reader of Markdown and what the renderer of a platform of one's own is made of.
export type {
  MarkdownBlock,
  MarkdownCell,
  MarkdownInline,
  MarkdownItem,
  MarkdownRenderer,
  RenderedText,
} from './contract/index.ts'
export { plainText, readMarkdown, safeHref, sentForm, textTable } from './kit/markdown/index.ts'
