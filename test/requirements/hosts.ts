// What issue 14 demands of the channel connector: proof, twins, bindings.
import { requirements } from './row.ts'

export const HOSTS = requirements(
  'Issue 14 Hosts of the channel connector',
  `
`,
)
