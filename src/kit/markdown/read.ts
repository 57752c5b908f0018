// The reader as the daemon has it. The parser's package is loaded by the first text that is read: a daemon that starts, and
// says nothing long, does without.
import { createRequire } from 'node:module'
import { createMarkdownReader } from './reader.ts'
import { rememberTrees } from './remember-trees.ts'

type Package = typeof import('markdown-it')

/** Enough for the messages of some seconds. */
const MOST_KEPT_CHARS = 131_072

/** By `require`: the outlet cuts a text without waiting, so it cannot wait for a module either. */
export const readMarkdown = rememberTrees(
  createMarkdownReader(() => {
    const loaded = createRequire(import.meta.url)('markdown-it') as Package | Package['default']
    return 'default' in loaded ? loaded.default : loaded
  }),
  MOST_KEPT_CHARS,
)
