// What issue 14 demands of the store: files taken away, backup, retention, erasure.
import { requirements } from './row.ts'

export const DURABILITY = requirements(
  'Issue 14 The store under attack',
  `
`,
)
