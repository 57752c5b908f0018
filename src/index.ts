// The library door: what people who build on Switchboard may import. All that an adapter of one's own needs is named in
// adapter.ts; here is what embeds the daemon and looks at what it keeps.
export * from './adapter.ts'
export type { Choice, Settings, Store } from './contract/index.ts'
export { address, formatAddress, parseAddress } from './contract/index.ts'
export { type Daemon, type DaemonOptions, runDaemon } from './daemon/daemon.ts'
