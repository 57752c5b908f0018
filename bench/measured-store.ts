// Opens the store of a data folder by the sources of the measured build, and fills it in batches.
import type { Clock, Store } from '../src/contract/index.ts'
import { type MeasuredSource, measuredSource } from './measured-source.ts'

export interface MeasuredStore {
  readonly source: MeasuredSource
  readonly clock: Clock
  /** The database file. */
  readonly database: string
  /** Opens the store anew each time. */
  open(): Promise<Store>
}

/** `node` is the name of the writer. Creates the folder if needed. */
export async function measuredStore(dataDir: string, entry: string, node: string): Promise<MeasuredStore> {
  const source = await measuredSource(entry)
  const { dataFolderAt, openKeyRing, prepareDataFolder } = source.config
  const folder = dataFolderAt({ data: dataDir, env: {} })
  prepareDataFolder(folder)
  const clock = source.clock.createRealClock()
  const deps = {
    clock,
    random: source.clock.createRealRandom(),
    node,
    ledgerKey: openKeyRing({ dataDir: folder.path, env: {} }).ledgerKey,
  }
  return {
    source,
    clock,
    database: folder.database,
    open: () => source.store.openStore(folder.defaultStore, deps),
  }
}

export async function inBatches(
  many: number,
  most: number,
  put: (from: number, length: number) => Promise<unknown>,
): Promise<void> {
  for (let from = 0; from < many; from += most) await put(from, Math.min(most, many - from))
}
