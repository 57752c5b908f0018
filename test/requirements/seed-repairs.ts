// What issue 14 mends of Chorus, Telegram, notify and hosted servers.
import { requirements } from './row.ts'

export const SEED_REPAIRS = requirements(
  'Issue 14 The seeds, to the letter',
  `
`,
)
