// One runner, two projects: what is pure runs in parallel; what starts real processes, browsers or servers and looks
// at the time runs afterwards, one file after the other, so that the tests do not disturb each other on two cores.
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const processes = [
  'test/faults/**/*.test.ts',
  'test/daemon/**/*.test.ts',
  'test/browser/**/*.test.ts',
  '**/*.process.test.ts',
]

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'dist/**', ...processes],
          // Half of these wait for a disk or a database: two at a time also where there are two cores.
          maxWorkers: Math.max(2, availableParallelism() - 1),
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'processes',
          include: processes,
          exclude: ['**/node_modules/**', 'dist/**'],
          fileParallelism: false,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          sequence: { groupOrder: 1 },
        },
      },
    ],
    pool: 'forks',
    // A limit ends a hang; no test is to fail because the machine was busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
