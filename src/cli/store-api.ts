// The way to the store for a command without a daemon: the operations run in this process, on a store opened for
// reading only.
import { existsSync } from 'node:fs'
import { SwitchboardError } from '../contract/index.ts'
import type { OperationContext } from '../operations/context.ts'
import { chunksOf, createOfflineApi } from '../operations/offline-api.ts'
import { openStoreContext } from '../operations/open-store-context.ts'
import { type Api, createApi, type Query } from './api.ts'

export function createStoreApi(context: OperationContext): Api {
  const answer = createOfflineApi(context)
  const ask = (path: string, query: Query = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    return answer(path, Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
  }
  return createApi(
    {
      call: async (_method, path, { query }) => JSON.parse(String((await ask(path, query)).body)),
      stream: async (path, query) => chunksOf(await ask(path, query)),
    },
    false,
  )
}

export async function openStoreApi(options: {
  readonly dataDir: string
  readonly configFile: string | null
  /** How a daemon is started here. */
  readonly hint: string
}): Promise<{ readonly api: Api; close(): Promise<void> }> {
  if (!existsSync(options.dataDir)) {
    throw new SwitchboardError('daemon_absent', `there is no data folder ${options.dataDir} yet`, {
      hint: `name the right one with --data, or ${options.hint}`,
    })
  }
  const { dataDir, configFile } = options
  const opened = await openStoreContext(configFile === null ? { dataDir } : { dataDir, configFile })
  return { api: createStoreApi(opened.context), close: opened.close }
}
