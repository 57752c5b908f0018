import type { Store } from '../../contract/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import type { StoreDeps } from '../store-deps.ts'

export interface PostgresStoreOptions extends StoreDeps {
  readonly url: string
  readonly readOnly?: boolean
}
export async function createPostgresStore(_options: PostgresStoreOptions): Promise<Store> {
  throw new SwitchboardError('not_built', 'PostgreSQL is not here yet')
}
