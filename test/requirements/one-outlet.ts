// What issue 13 demands of the outlet and of the pieces that the river shares.
import { requirements } from './row.ts'

export const ONE_DOOR = requirements(
  'Issue 13 One door out',
  `
built   13 I13.core-no-platform  The core names no platform
built   13 I13.linear-patterns   Every pattern of src/ and web/ takes linear time, but for those whose text is short or our own, with the reason
built   13 I13.clock-back-limit  A limit whose clock was set back is counted from there: nobody waits until the clock has caught up
`,
)
