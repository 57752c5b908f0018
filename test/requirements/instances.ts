// What issue 14 demands of instances: one configuration, one folder, one daemon.
import { requirements } from './row.ts'

export const INSTANCES = requirements(
  'Issue 14 Instances',
  `
`,
)
