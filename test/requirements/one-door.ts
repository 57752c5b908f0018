// What issue 13 demands of the outlet and of the pieces that the river shares.
import { requirements } from './row.ts'

export const ONE_DOOR = requirements(
  'Issue 13 One door out',
  `
`,
)
