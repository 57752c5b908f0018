// Projects of tests. `npm test` runs unit, steps and smoke; `npm run test:system` runs processes (scripts/test.mjs).
// Three files run at once for each core, because most of them wait for a child, a disk or a database. Files share the
// modules that they load: loading them anew for each file takes longer than many tests.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/longest-first.ts'

/** The real thing in short: a daemon, kill -9, PostgreSQL, the page in a browser. */
const smoke = [
  'test/faults/journey.test.ts',
  'test/daemon/stores.test.ts',
  'test/browser/chat.test.ts',
  'test/golden/golden.test.ts',
]
/** In one process, but long: emulated networks in real time, thousands of messages, and hours that pass. */
const long = [
  'src/platforms/email/emulated.test.ts',
  'test/scenarios/*-faults.test.ts',
  'test/scenarios/email-river.test.ts',
  'test/scenarios/{ten-thousand,many-approvals,long-queue,looked-all,completeness-attacks,outages,partial}.test.ts',
  // Each starts a process, or a library of the vendor, for every case.
  'src/modules/external-modules.test.ts',
  'src/setup/verify-chorus.test.ts',
  'src/testing/discord/official-clients.test.ts',
]
const processes = [
  'test/faults/**/*.test.ts',
  'test/daemon/**/*.test.ts',
  'test/browser/**/*.test.ts',
  'test/golden/**/*.test.ts',
  '**/*.process.test.ts',
]
// Steps are counted (src/testing/suites/count-steps.ts) in a process of their own: what ran in it before is not counted.
const counted = ['**/*.steps.test.ts']
const elsewhere = ['**/node_modules/**', 'dist/**']
const cores = Math.max(2, availableParallelism())
// A limit ends a hang; no test is to fail because the machine was busy.
const patient = { testTimeout: 600_000, hookTimeout: 300_000 }

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          ...patient,
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts', 'bench/**/*.test.ts'],
          exclude: [...elsewhere, ...processes, ...long, ...counted],
          isolate: false,
          maxWorkers: 3 * cores,
        },
      },
      {
        extends: true,
        test: { ...patient, name: 'steps', include: counted, exclude: elsewhere, maxWorkers: 3 * cores },
      },
      {
        extends: true,
        test: { ...patient, name: 'smoke', include: smoke, exclude: elsewhere, maxWorkers: 3 * cores },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'processes',
          include: [...processes, ...long],
          exclude: [...elsewhere, ...smoke],
          isolate: false,
          maxWorkers: 3 * cores,
        },
      },
    ],
    pool: 'forks',
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/temporary-folder.ts', 'test/offer-postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A test that asserts nothing fails.
    expect: { poll: { timeout: 60_000 }, requireAssertions: true },
  },
})
