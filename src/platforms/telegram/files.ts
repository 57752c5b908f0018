// Files of a Telegram integration: downloads by getFile, and files that Telegram already has.
import { defined, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import {
  createFileStore as createStore,
  type FetchedQuota,
  type FileStore as KitFileStore,
  overLimit,
} from '../../kit/index.ts'
import type { TelegramClient } from './client.ts'

const FETCHED = { maxBytes: 20 * 1_048_576, why: 'which is all that Telegram gives to bots' }
const SENT = { maxBytes: 50 * 1_048_576, why: 'which is all a bot may send' }
const PLATFORM_FILE = 'telegram:'

export interface FileStore extends KitFileStore {
  /** `telegram:FILE_ID` sends a file that Telegram already has. Null: another reference. */
  platformFile(ref: string): string | null
}

export function createFileStore(
  client: TelegramClient,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
  quota?: FetchedQuota,
): FileStore {
  const store = createStore(deps, {
    async bytesOf({ ref }) {
      const file = await client.call('getFile', { file_id: ref }, { repeatable: true })
      const path = file.file_path
      // A local Bot API server returns a path on its own machine, which is not read.
      if (path === undefined || path.startsWith('/') || path.split('/').includes('..')) {
        throw new SwitchboardError('platform_rejected', 'Telegram gives no download for this file')
      }
      if ((file.file_size ?? 0) > FETCHED.maxBytes) throw overLimit('too_large', FETCHED)
      return { bytes: await client.file(path, FETCHED.maxBytes), name: path }
    },
    fetched: FETCHED,
    sent: SENT,
    ...defined({ quota }),
  })
  return {
    ...store,
    platformFile: (ref) => (ref.startsWith(PLATFORM_FILE) ? ref.slice(PLATFORM_FILE.length) : null),
  }
}
