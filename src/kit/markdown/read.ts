// The reader of the daemon. The parser's package is loaded when the first text is read, so that a start does not load
// it.
import { createRequire } from 'node:module'
import { createMarkdownReader } from './reader.ts'
import { rememberTrees } from './remember-trees.ts'

type Package = typeof import('markdown-it')

/** Enough for the messages of some seconds. */
const MOST_KEPT_CHARS = 131_072

/** Uses `require`, because the outlet cuts texts synchronously. */
export const readMarkdown = rememberTrees(
  createMarkdownReader(() => {
    const loaded = createRequire(import.meta.url)('markdown-it') as Package | Package['default']
    return 'default' in loaded ? loaded.default : loaded
  }),
  MOST_KEPT_CHARS,
)
