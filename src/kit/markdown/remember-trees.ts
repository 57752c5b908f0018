// Remembers the trees of the texts that were read last. The outlet reads a text to cut it, and moments later the
// adapter reads each part to render it. In between lies the outbox, which keeps text. After a restart a part is read
// again.
import type { MarkdownBlock } from '../../contract/message/markdown.ts'
import type { ReadMarkdown } from './reader.ts'

/** The least that a tree counts, in characters. */
const LEAST_CHARS = 100

/** `mostChars`: the total length of the remembered texts. */
export function rememberTrees(read: ReadMarkdown, mostChars: number): ReadMarkdown {
  const trees = new Map<string, readonly MarkdownBlock[]>()
  const sizeOf = (text: string) => text.length + LEAST_CHARS
  let chars = 0

  const forget = (text: string) => {
    if (trees.delete(text)) chars -= sizeOf(text)
  }

  return (text) => {
    if (sizeOf(text) > mostChars) return read(text)
    const tree = trees.get(text) ?? read(text)
    // The newest is the last.
    forget(text)
    trees.set(text, tree)
    chars += sizeOf(text)
    for (const oldest of trees.keys()) {
      if (chars <= mostChars) break
      forget(oldest)
    }
    return tree
  }
}
