// One runner, three projects. What is pure runs on every core. What starts real processes, browsers or servers waits for
// its disk, database or child half the time: two files for each core. What measures (how soon work has moved, how fast
// the river is) runs last, one file after the other, so that the tests do not disturb each other.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const measuring = [
  'test/faults/cluster-database.test.ts',
  'test/faults/cluster-nodes.test.ts',
  'test/faults/idle-exit.test.ts',
  'bench/bench.process.test.ts',
]
const processes = [
  'test/faults/**/*.test.ts',
  'test/daemon/**/*.test.ts',
  'test/browser/**/*.test.ts',
  '**/*.process.test.ts',
]
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
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: [...elsewhere, ...processes],
          maxWorkers: cores,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'processes',
          include: processes,
          exclude: [...elsewhere, ...measuring],
          maxWorkers: 2 * cores,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          ...patient,
          name: 'measuring',
          include: measuring,
          exclude: elsewhere,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
    pool: 'forks',
    globalSetup: ['test/offer-postgres.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
