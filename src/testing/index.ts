// The package's door `switchboard/testing`: the suites that adapters, connectors and stores run, and what they need,
// names one by one. Needs vitest (and fast-check for the store); the fakes without a test runner are in ./emulate.ts.
export {
  type ConnectorFixture,
  delivery,
  describeConnectorSuite,
  startRecorded,
} from './connector-suite.ts'
export * from './emulate.ts'
export { createFakeIntake, type FakeIntake } from './fake-intake.ts'
export { createFaultProxy, type FaultProxy, PROXY_FAULTS, type ProxyFault } from './fault-proxy.ts'
export type { HistoryFixture } from './history-suite.ts'
export {
  type Delivered,
  deliverTo,
  describePlatform,
  type FixtureOptions,
  type InboundCase,
  type PlatformFault,
  type PlatformFixture,
  type PlatformSuiteOptions,
} from './platform-suite.ts'
export { createRecordingLog, type RecordingLog } from './recording-log.ts'
export { describeRenderer } from './renderer-suite.ts'
export {
  createScriptedHistory,
  type ReadFault,
  type SaidOptions as HistorySaidOptions,
  type ScriptedHistory,
} from './scripted-history.ts'
export { describeStore } from './store-suite/index.ts'
export { createTestClock, createTestRandom, type TestClock } from './test-clock.ts'
export { type TestDepsOptions, testConnectorDeps, testPlatformDeps } from './test-deps.ts'
export { testAgent, testIntegration, testSettings } from './test-settings.ts'
