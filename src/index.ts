// The entry `switchboard`: for programs that embed the daemon or read its data. Everything for adapters is in
// adapter.ts.
export * from './adapter.ts'
export type { Choice, Settings, Store } from './contract/index.ts'
export { address, formatAddress, parseAddress } from './contract/index.ts'
export { type Daemon, type DaemonOptions, runDaemon } from './daemon/daemon.ts'
