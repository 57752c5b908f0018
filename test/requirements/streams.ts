// What issue 14 demands: nothing lost on streams, in schedules, or behind a cap.
import { requirements } from './row.ts'

export const STREAMS = requirements(
  'Issue 14 Streams, schedules and lists',
  `
`,
)
