// What issue 14 demands of delivery: side acts give way, one answer a turn, places by name.
import { requirements } from './row.ts'

export const TRUTH = requirements(
  'Issue 14 No lie',
  `
`,
)
