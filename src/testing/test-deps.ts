// The dependencies of an adapter, for tests: driven time, a readable log, secrets by reference. A test can override
// each.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { ConnectorDeps, PlatformDeps } from '../contract/index.ts'
import { createRecordingLog, type RecordingLog } from './recording-log.ts'
import { scratchRoot } from './scratch.ts'
import { createTestClock, createTestRandom, type TestClock } from './test-clock.ts'
import { testAgent, testIntegration } from './test-settings.ts'

export interface TestDepsOptions {
  /** The options in the form of the module's schema. */
  readonly options?: Readonly<Record<string, unknown>>
  /** The secrets behind references: `{ 'env:TOKEN': '…' }`. */
  readonly secrets?: Readonly<Record<string, string>>
}

interface Driven {
  readonly clock: TestClock
  readonly log: RecordingLog
}

export function testPlatformDeps(
  { options = {}, secrets = {} }: TestDepsOptions = {},
  over: Partial<PlatformDeps> = {},
): PlatformDeps & Driven {
  const none = () => Promise.reject(new Error('there are no tokens here'))
  return {
    integration: testIntegration('test', { options }),
    random: createTestRandom('deps'),
    transcript: async () => [],
    secret: (reference) => secretOf(secrets, reference),
    tokens: { mint: none, find: async () => null, consume: async () => null },
    filesDir: join(scratchRoot(), `swb-files-${randomUUID()}`),
    ...over,
    clock: createTestClock(),
    log: createRecordingLog(),
  }
}

export function testConnectorDeps(
  { options = {}, secrets = {} }: TestDepsOptions = {},
  over: Partial<ConnectorDeps> = {},
): ConnectorDeps & Driven {
  return {
    agent: testAgent('agent', ['test'], { connector: { type: 'test', options } }),
    random: createTestRandom('deps'),
    secret: (reference) => secretOf(secrets, reference),
    ...over,
    clock: createTestClock(),
    log: createRecordingLog(),
  }
}

function secretOf(secrets: Readonly<Record<string, string>>, reference: string): string {
  const value = Object.hasOwn(secrets, reference) ? secrets[reference] : undefined
  if (value === undefined) throw new Error(`${reference} leads to nothing`)
  return value
}
