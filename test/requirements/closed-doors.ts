// What issue 14 demands against attackers: rights, limits, credentials, files.
import { requirements } from './row.ts'

export const CLOSED_DOORS = requirements(
  'Issue 14 Nobody in or out',
  `
`,
)
