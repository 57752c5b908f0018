// The reader of the daemon. The parser's package is loaded when a text is first read, so a daemon that sends nothing
// long never loads it.
import { createRequire } from 'node:module'
import { createMarkdownReader } from './reader.ts'

type Package = typeof import('markdown-it')

/** Loaded by `require`, because cutting a text is synchronous. */
export const readMarkdown = createMarkdownReader(() => {
  const found = createRequire(import.meta.url)('markdown-it') as Package | Package['default']
  return 'default' in found ? found.default : found
})
