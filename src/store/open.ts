// Opens the store that the configured URL selects. The PostgreSQL driver is loaded only when used.
import { type Store, SwitchboardError } from '../contract/index.ts'
import type { StoreDeps } from './store-deps.ts'

export interface OpenStoreOptions extends StoreDeps {
  readonly readOnly?: boolean
}

/** Opens `sqlite:PATH`, `postgres://…` or `postgresql://…`. Throws `config_invalid` for any other URL. */
export async function openStore(url: string, options: OpenStoreOptions): Promise<Store> {
  if (url.startsWith('sqlite:') && url.length > 'sqlite:'.length) {
    const { createSqliteStore } = await import('./sqlite/sqlite-store.ts')
    return await createSqliteStore({ ...options, file: url.slice('sqlite:'.length) })
  }
  if (/^postgres(ql)?:\/\//.test(url)) {
    const { createPostgresStore } = await import('./postgres/postgres-store.ts')
    return await createPostgresStore({ ...options, url })
  }
  // The URL may contain a password, so the error does not repeat it.
  throw new SwitchboardError('config_invalid', 'the store is neither sqlite:PATH nor postgres://…', {
    hint: 'set store: sqlite:./switchboard.db in switchboard.yaml',
  })
}
