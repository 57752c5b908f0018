// What issue 13 demands of Markdown: one linear reader, a tree, texts cut on it.
import { requirements } from './row.ts'

export const MARKDOWN = requirements(
  'Issue 13 One reader of Markdown',
  `
`,
)
