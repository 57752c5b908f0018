// The reader of a command without a daemon: it asks the routes of the API in this process.
import type { ReadDesk } from '../contract/index.ts'
import { chunksOf, createOfflineApi } from '../operations/offline-api.ts'
import { type ApiClient, listBy, type Query } from './daemon-client.ts'
import { createReader, type Reader } from './reader.ts'

export function createStoreReader(desk: ReadDesk): Reader {
  const api = createOfflineApi(desk, { now: Date.now })
  const ask = (path: string, query: Query = {}) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    return api(path, Object.fromEntries(given.map(([name, value]) => [name, String(value)])))
  }
  const call: ApiClient['call'] = async (_method, path, options) =>
    JSON.parse(String((await ask(path, options?.query)).body))
  return createReader(
    { call, stream: async (path, query) => chunksOf(await ask(path, query)), list: listBy(call) },
    false,
  )
}
