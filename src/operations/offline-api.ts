// The API without a daemon: the same routes, answered in this process from a store that is only read.
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import type { HttpReply } from '../contract/index.ts'
import { createApi } from '../server/api/api.ts'
import type { OperationContext } from './context.ts'
import { OPERATIONS, withContext } from './index.ts'

/** Answers a GET of `/api`. Throws what the route throws. */
export type OfflineApi = (path: string, query: Readonly<Record<string, string>>) => Promise<HttpReply>

export function createOfflineApi(context: OperationContext): OfflineApi {
  const api = createApi(
    {
      clock: context.clock,
      // A person who may read the data folder may read all of it.
      authorize: () => ({ allowed: true }),
    },
    withContext(OPERATIONS, context),
  )
  return (path, query) =>
    api({
      request: { method: 'GET', headers: {} },
      segments: path.slice(1).split('/').map(decodeURIComponent),
      query: new URLSearchParams(query),
      body: Buffer.alloc(0),
      // Without a daemon nobody holds a conversation by this name.
      principal: { kind: 'operator', id: '' },
      via: 'cli',
    })
}

/** The text of a reply in chunks. A reply that streams is read as fast as it is taken. */
export function chunksOf({ stream, body }: HttpReply): AsyncIterable<string> {
  const out = new PassThrough({ encoding: 'utf8' })
  if (stream === undefined) {
    out.end(body ?? '')
    return out
  }
  const writing: unknown = stream({
    write: (chunk) => void out.write(chunk),
    drained: async () => void (out.writableNeedDrain && (await once(out, 'drain'))),
    get closed() {
      return out.destroyed
    },
    onClose: (run) => void out.once('close', run),
    end: () => void out.end(),
  })
  Promise.resolve(writing).catch((thrown) => out.destroy(thrown))
  return out
}
