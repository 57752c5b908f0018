// What issue 13 demands of platform and connector modules: their options, set-up and emulator, and those of others.
import { requirements } from './row.ts'

export const MODULES = requirements(
  'Issue 13 Modules: the folder owns its options, others can plug in',
  `
`,
)
