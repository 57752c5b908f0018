// What issue 13 demands of the tests themselves.
import { requirements } from './row.ts'

export const TRUE_TESTS = requirements(
  'Issue 13 Tests that can fail, in ten minutes',
  `
built   13 I13.suite-ran            Every platform, connector and store runs its suite
built   13 I13.suite-skip-reason    A step of a suite that an adapter cannot do is skipped with its written reason, never passed in silence
built   13 I13.suite-not-empty      A fixture without a payload for a step that needs one does not pass that step
built   13 I13.suite-finds-faults   An adapter that drops what the store refused fails the suite, and so does one that ignores the lease
built   13 I13.no-bare-test         A test that asserted nothing fails
built   13 I13.typing               The page shows that the agent works before it stops showing it
built   13 I13.mutate               npm run mutate changes the code one place at a time, runs the tests that reach it and prints the score and the survivors
built   13 I13.mutate-seed          The same seed gives the same mutants in the same order, and two states of the code share the order of what they share
built   13 I13.mutate-unclear       A mutant whose tests fail without it too counts neither as killed nor as survived
built   13 I13.mutate-copy          Mutants are made in a copy: the working tree is never changed
built   13 I13.dealt                npm test runs each scenario on one arrangement, dealt out so that every arrangement is used
built   13 I13.dealt-all            npm run test:all runs every scenario and every fault plan on every arrangement
built   13 I13.matrix               npm run matrix runs the tests on Node 20, 22 and 24
built   13 I13.time-table           A test run ends with the seconds by folder and its slowest files
built   13 I13.script-help          The commands that test, mutate and run on other versions of Node say what they take
built   13 I13.changed              npm test -- --changed runs the tests that a change can reach
`,
)
