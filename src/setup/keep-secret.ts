// Puts a secret into the encrypted store of an instance that does not run yet: for `init`, which asks before the first start.
import { dirname } from 'node:path'
import { dataFolderAt, prepareDatabase, prepareDataFolder } from '../config/instance/data-folder.ts'
import { readEnvironment } from '../config/instance/environment.ts'
import { openKeyRing } from '../config/secrets/key-ring.ts'
import { resolveStore } from '../config/secrets/secret-reference.ts'
import { openSecretStore } from '../config/secrets/secret-store.ts'
import { demandWhole } from '../daemon/adopt-folder.ts'
import { dataFolderInUse, lockDataFolder, nodeName } from '../daemon/data-folder-lock.ts'
import { holdDatabase } from '../daemon/database/hold-database.ts'
import { createLogger } from '../runtime/logger.ts'
import { createNodeClock, createRealRandom } from '../runtime/real-clock.ts'
import { createUndoStack } from '../runtime/undo-stack.ts'
import { openStore } from '../store/open.ts'

/** For a file that names no store of its own. Throws `conflict` while a daemon holds the folder. */
export async function keepSecretAtRest(at: {
  readonly dataDir: string
  readonly configFile: string
  readonly name: string
  readonly value: string
}): Promise<void> {
  const env = readEnvironment().variables
  const log = createLogger({ format: 'people', level: 'error' })
  const folder = dataFolderAt({ data: at.dataDir, config: null, env })
  prepareDataFolder(folder)
  const lock = lockDataFolder(folder)
  if (!lock) throw dataFolderInUse(folder)
  const undo = createUndoStack(log)
  undo.push(() => lock.release())
  try {
    demandWhole(folder)
    const storeAt = resolveStore(folder.defaultStore, { folder: dirname(at.configFile), env })
    const held = holdDatabase(storeAt, folder, log)
    undo.push(() => held.release())
    const keys = openKeyRing({ dataDir: folder.path, env })
    prepareDatabase(storeAt)
    const deps = { clock: createNodeClock(), random: createRealRandom(), node: nodeName(folder), log }
    const store = await openStore(storeAt, { ...deps, ledgerKey: keys.ledgerKey })
    undo.push(() => store.close())
    await (await openSecretStore(keys, store)).set(at.name, at.value, 'init')
  } finally {
    await undo.unwind()
  }
}
