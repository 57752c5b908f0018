// The store room's door.
export { type OpenStoreOptions, openStore } from './open.ts'
export type { StoreDeps } from './store-deps.ts'
