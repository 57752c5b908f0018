// The package export `switchboard/testing`: the suites for adapters, connectors and stores, and their helpers. It needs
// vitest, and fast-check for the store. The fakes without a test runner are in ./emulate.ts.

export * from './emulate.ts'
export { createFakeIntake, type FakeIntake } from './fake-intake.ts'
export { createFaultProxy, type FaultProxy, PROXY_FAULTS, type ProxyFault } from './faults/fault-proxy.ts'
export { createRecordingLog, type RecordingLog } from './recording-log.ts'
export {
  createScriptedHistory,
  type ReadFault,
  type SaidOptions as HistorySaidOptions,
  type ScriptedHistory,
} from './scripted/scripted-history.ts'
export { describeStore } from './store-suite/index.ts'
export {
  type ConnectorFixture,
  delivery,
  describeConnectorSuite,
  startRecorded,
} from './suites/connector-suite.ts'
export type { HistoryFixture } from './suites/history-suite.ts'
export {
  type Delivered,
  deliverTo,
  describePlatform,
  type FixtureOptions,
  type InboundCase,
  type PlatformFault,
  type PlatformFixture,
  type PlatformSuiteOptions,
} from './suites/platform-suite.ts'
export { describeRenderer } from './suites/renderer-suite.ts'
export { createTestClock, createTestRandom, type TestClock } from './test-clock.ts'
export { type TestDepsOptions, testConnectorDeps, testPlatformDeps } from './test-deps.ts'
export { createTestLease, type TestLease } from './test-lease.ts'
export { testAgent, testIntegration, testSettings } from './test-settings.ts'
