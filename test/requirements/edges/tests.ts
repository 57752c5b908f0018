// What issue 35 demands: fast, true tests.
import { requirements } from '../row.ts'

export const EDGES_TESTS = requirements(
  'Issue 35 Fast, true tests',
  `
built   35 I35.a0             npm test takes under four minutes on two cores; npm run test:system is the rest; .ci/run runs both
built   35 I35.a0-ports       Ports of tests are chosen by the kernel and handed over
built   35 I35.readme-names   The first sentence of the README names every platform and agent
`,
)
