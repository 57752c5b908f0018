// Prevents an upgrade from starting empty beside old data. It finds turns of a configuration file in the home folder
// while the file's own folder has none. Only turns that were received under a configuration file count. Turns of the
// embedded default belong to no project.
import { existsSync } from 'node:fs'
import {
  dataFolderAt,
  homeFolder,
  type Instance,
  openConfigSource,
  readLedgerKey,
} from '../../config/index.ts'
import { readStarts } from '../../config/instance/start-record.ts'
import { defined, type Store } from '../../contract/index.ts'
import { createModuleCatalog } from '../../modules/module-catalog.ts'
import { createLogger } from '../../runtime/logger.ts'
import { createNodeClock, createRealRandom } from '../../runtime/real-clock.ts'
import { openStore } from '../../store/open.ts'

export interface EarlierData {
  readonly folder: string
  /** The file's integrations that have such turns. */
  readonly integrations: readonly string[]
}

/** Returns null if there is no earlier data of this file. Throws the errors of the configuration's reader. */
export async function findEarlierData(
  instance: Instance,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EarlierData | null> {
  const { config, data } = instance
  // The database decides. A refused start or an interrupted move also leaves a folder.
  const own = dataFolderAt({ data: data.path, env })
  if (config === null || data.from !== 'beside' || existsSync(own.database)) return null
  const home = dataFolderAt({ data: homeFolder(env), env })
  if (home.path === data.path || !existsSync(home.database)) return null
  const spans = spansOfFiles(home)
  if (spans.length === 0) return null
  const clock = createNodeClock()
  const log = createLogger({ format: 'people', level: 'silent' })
  const adapters = createModuleCatalog({ leaveModulesAlone: true })
  const source = await openConfigSource(
    { file: config.file, adapters, defaultStore: own.defaultStore },
    { clock, log },
  )
  const settings = source.current()
  // A configured store is found by its address, wherever the folder is.
  if (settings.store !== own.defaultStore) return null
  const store = await openStore(home.defaultStore, {
    ...{ clock, log, random: createRealRandom() },
    node: 'reader',
    ledgerKey: readLedgerKey({ dataDir: home.path, env }),
    readOnly: true,
  })
  try {
    const integrations: string[] = []
    for (const { id } of settings.integrations) if (await hasTurns(store, id, spans)) integrations.push(id)
    return integrations.length === 0 ? null : { folder: home.path, integrations }
  } finally {
    await store.close()
  }
}

interface Span {
  readonly sinceMs: number
  /** Absent: until now. */
  readonly untilMs?: number
}

/** Returns the time spans in which the folder's daemons ran a configuration file. */
function spansOfFiles(folder: Parameters<typeof readStarts>[0]): readonly Span[] {
  const starts = readStarts(folder)
  return starts.flatMap(({ config, at }, index) =>
    config === null ? [] : [{ sinceMs: at, ...defined({ untilMs: starts[index + 1]?.at }) }],
  )
}

async function hasTurns(
  store: Pick<Store, 'turns'>,
  integration: string,
  spans: readonly Span[],
): Promise<boolean> {
  for (const span of spans)
    if ((await store.turns({ integration, ...span, limit: 1 })).length > 0) return true
  return false
}
