// The store's front door: the URL of the configuration decides which one. PostgreSQL's driver is loaded when used.
import { type Store, SwitchboardError } from '../contract/index.ts'
import type { StoreDeps } from './store-deps.ts'

export interface OpenStoreOptions extends StoreDeps {
  readonly readOnly?: boolean
}

/** `sqlite:PATH`, `postgres://…` or `postgresql://…`. Throws `config_invalid` for anything else. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const { createSqliteStore } = await import('./sqlite/sqlite-store.ts')
    return await createSqliteStore({ ...options, file: url.slice('sqlite:'.length) })
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { createPostgresStore } = await import('./postgres/postgres-store.ts')
    return await createPostgresStore({ ...options, url })
  }
  // The URL may hold a password: it is not repeated.
  throw new SwitchboardError('config_invalid', 'the store is neither sqlite:PATH nor postgres://…', {
    hint: 'set store: sqlite:./switchboard.db in switchboard.yaml',
  })
}
