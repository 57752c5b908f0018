// An upgrade never starts empty beside old data: which turns the home folder holds of a file whose own folder holds none yet.
// Only turns that were received under a configuration file count: what the embedded default received is no project's.
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
  /** Those of the file's integrations that have such turns there. */
  readonly integrations: readonly string[]
}

/** Null: nothing of this file is there, or its own folder holds data. Throws what the configuration's reader throws. */
export async function findEarlierData(
  instance: Instance,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EarlierData | null> {
  const { config, data } = instance
  // By the database: a folder alone is also what a start that was refused, or a move that was cut short, leaves.
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
  // A store of its own is found by its name, wherever the folder is.
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

/** When the folder's daemons ran a configuration file. */
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
