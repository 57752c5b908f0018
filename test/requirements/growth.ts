// What issue 23 promises of growth: whatever there is much of costs no more each, and holds nobody else up.
import { requirements } from './row.ts'

export const GROWTH = requirements(
  'Issue 23 As it grows',
  `
built   23 I23.sweep-one-scope       A link that starts looks for its own work, not for everybody's
built   23 I23.sweep-asks-open       A sweep asks the store once, and once more for each integration that has something open
built   23 I23.lanes-dealt           Lanes are dealt by integration: many that wait for one hold up no other
built   23 I23.sweep-slices          A sweep over many conversations that wait lets other work through
built   23 I23.readers-one-query     Readers of streams cost one query a tick together, however many there are and whatever waits
built   23 I23.reader-share          One sender on many streams of a hook leaves room for others
built   23 I23.export-yields         An export of the ledger lets other work through, entry by entry of what it checks
built   23 I23.turns-indexed         Turns by state, agent, source, sender and time are found without a scan, on both stores
built   23 I23.doctor-linear         What doctor does grows with the agents and integrations, not with their product
built   23 I23.reload-slices         Reading a large configuration lets other work through
built   23 I23.config-limit          The largest configuration that is read is documented, and told when it is exceeded
built   23 I23.binding-flat          A message finds its integration and its agent by look-up, however many there are
built   23 I23.long-queue            A conversation with much queued is worked off at the same price each as a short one
built   23 I23.table-linear          A table for people costs the same for each line, and 200,000 lines are printed
built   23 I23.head-at-once          audit head reads the head and verifies nothing
built   23 I23.prune-slices          Pruning lets other work through
built   23 I23.bench-growth          The benchmark measures take, settle, status, turns and the stream by sessions and turns, and memory a session and a waiting turn
built   23 I23.bench-ends            The benchmark ends what it started when it is told to stop
built   23 I23.bench-page            The page of speed is the benchmark's own output
`,
)
