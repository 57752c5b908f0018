// Slack's `markdown` block: when it is wanted in place of mrkdwn, and its text without what could ping somebody.
import type { MarkdownBlock } from '../../contract/index.ts'

/** Whether mrkdwn cannot show it as it was meant: tables, several levels of headings, lists in lists. */
export function wantsMarkdownBlock(blocks: readonly MarkdownBlock[]): boolean {
  return blocks.some((block) => {
    if (block.kind === 'table' || block.kind === 'heading') return true
    return (
      block.kind === 'list' &&
      block.items.some(({ children }) => children.some(({ kind }) => kind === 'list' || kind === 'table'))
    )
  })
}

const MENTION_START = /<(?=[!@#])/g
const LOUD_WORD = /@(?=(?:channel|here|everyone)\b)/gi

/** Markdown for Slack's `markdown` block, in which nothing can ping: what would be a mention is broken by a mark of no width. */
export function harmlessMarkdown(text: string): string {
  return text.replace(MENTION_START, '<\u200b').replace(LOUD_WORD, '@\u200b')
}
