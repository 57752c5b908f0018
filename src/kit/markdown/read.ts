// The reader as the daemon has it. The parser's package is loaded by the first text that is read: a daemon that starts, and
// says nothing long, does without.
import { createRequire } from 'node:module'
import { createMarkdownReader } from './reader.ts'

type Package = typeof import('markdown-it')

/** By `require`: whoever cuts a text does so while it is said, and cannot wait for a module. */
export const readMarkdown = createMarkdownReader(() => {
  const found = createRequire(import.meta.url)('markdown-it') as Package | Package['default']
  return 'default' in found ? found.default : found
})
