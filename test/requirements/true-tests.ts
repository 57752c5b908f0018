// What issue 13 demands of the tests themselves.
import { requirements } from './row.ts'

export const TRUE_TESTS = requirements(
  'Issue 13 Tests that can fail, in ten minutes',
  `
`,
)
