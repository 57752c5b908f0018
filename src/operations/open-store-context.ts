// What operations run on without a daemon: a store that is opened for reading only.
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  dataFolderAt,
  instanceName,
  openConfigSource,
  readEnvironment,
  readLedgerKey,
  resolveStore,
} from '../config/index.ts'
import { SwitchboardError } from '../contract/index.ts'
import { createModuleCatalog } from '../modules/module-catalog.ts'
import { createLogger } from '../runtime/logger.ts'
import { createNodeClock, createRealRandom } from '../runtime/real-clock.ts'
import { VERSION } from '../runtime/version.ts'
import { openStore } from '../store/open.ts'
import type { OperationContext } from './context.ts'

export interface StoreContextOptions {
  readonly dataDir?: string
  readonly configFile?: string | null
}

export async function openStoreContext(
  options: StoreContextOptions,
): Promise<{ readonly context: OperationContext; close(): Promise<void> }> {
  const env = readEnvironment().variables
  const clock = createNodeClock()
  const log = createLogger({ format: 'people', level: 'error' })
  const folder = dataFolderAt({ data: options.dataDir, config: options.configFile ?? null, env })
  const config = await openConfigSource(
    {
      file: options.configFile ?? null,
      adapters: createModuleCatalog({ leaveModulesAlone: true }),
      defaultStore: folder.defaultStore,
    },
    { clock, log },
  )
  const settings = config.current()
  if (settings.store === folder.defaultStore && !existsSync(folder.database)) {
    throw new SwitchboardError('not_found', `there is no database in ${folder.path} yet`, {
      hint: `start a daemon first: switchboard up --data ${folder.path}`,
    })
  }
  const sources = { folder: options.configFile ? dirname(options.configFile) : folder.path, env }
  const store = await openStore(resolveStore(settings.store, sources), {
    clock,
    random: createRealRandom(),
    node: 'reader',
    ledgerKey: readLedgerKey({ dataDir: folder.path, env }),
    log,
    readOnly: true,
    // Nodes are heard of by the database's time: whether one is gone must not hang on the clock of who asks.
    onDatabaseTime: clock.adjust,
  })
  const context: OperationContext = {
    store,
    settings: () => settings,
    clock,
    standing: () => ({
      ready: false,
      node: 'none',
      version: VERSION,
      startedAt: clock.now(),
      configFile: options.configFile ?? null,
      configProblem: null,
      storeProblem: null,
      instance: instanceName(folder.path, env),
      dataDir: folder.path,
    }),
    live: null,
  }
  return { context, close: () => store.close() }
}
