// What issue 35 demands: fast, true tests.
import { requirements } from '../row.ts'

export const EDGES_TESTS = requirements(
  'Issue 35 Fast, true tests',
  `
built   35 I35.a0             npm test takes under four minutes on two cores; npm run test:system is the rest; .ci/run runs both
built   35 I35.a0-ports       Ports of tests are chosen by the kernel and handed over
built   35 I35.a3-programs    Messages, Claude Code, ACP agents, hosts of channels, hosted channel servers and the chat page hold up nobody with the most that they may say
built   35 I35.a3-message     A message of a program with more than 200 levels or 75,000 values is refused before anything is built of it
built   35 I35.a3-imessage    Texts, edits and property lists of Messages have a maximum, and what is cut says so
built   35 I35.readme-names   The first sentence of the README names every platform and agent
`,
)
