// Finds the data folder and the store for a command that runs without a daemon.
import { dirname } from 'node:path'
import {
  type DataFolder,
  dataFolderAt,
  openConfigSource,
  readEnvironment,
  resolveStore,
} from '../../config/index.ts'
import { SwitchboardError } from '../../contract/index.ts'
import { createModuleCatalog } from '../../modules/module-catalog.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createNodeClock } from '../../runtime/real-clock.ts'
import { databasePath } from '../database/hold-database.ts'

export interface StorePlace {
  readonly folder: DataFolder
  readonly env: Readonly<Record<string, string | undefined>>
  /** The store's address, as `openStore` takes it. */
  readonly store: string
  /** The file of an embedded store; null for PostgreSQL. */
  readonly database: string | null
}

export async function locateStore(options: {
  readonly dataDir: string
  readonly configFile: string | null
}): Promise<StorePlace> {
  const env = readEnvironment().variables
  const folder = dataFolderAt({ data: options.dataDir, env })
  const adapters = createModuleCatalog({ leaveModulesAlone: true })
  const config = await openConfigSource(
    { file: options.configFile, adapters, defaultStore: folder.defaultStore },
    { clock: createNodeClock(), log: createLogger({ format: 'people', level: 'error' }) },
  )
  const sources = { folder: options.configFile ? dirname(options.configFile) : folder.path, env }
  const store = resolveStore(config.current().store, sources)
  return { folder, env, store, database: databasePath(store) }
}

/** PostgreSQL has its own tools, which also cover other databases, roles and replicas. */
export function postgresHasItsOwn(folder: DataFolder, tool: 'pg_dump' | 'pg_restore'): SwitchboardError {
  const how =
    tool === 'pg_dump'
      ? 'pg_dump --format=custom --file=switchboard.dump "$DATABASE_URL"'
      : 'pg_restore --clean --if-exists --dbname="$DATABASE_URL" switchboard.dump, with all nodes stopped; then: switchboard restore --settle'
  return new SwitchboardError('config_invalid', `the store is PostgreSQL: ${tool} is its tool`, {
    hint: `${how} (and keep ${folder.ledgerKeyFile} and ${folder.attachments} of every node with it)`,
  })
}
