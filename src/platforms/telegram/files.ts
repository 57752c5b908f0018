// Files of a Telegram integration: what getFile leads to, and what Telegram has already.
import { defined, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import {
  createFileStore as createShelf,
  type FetchedQuota,
  type FileStore as Shelf,
} from '../../kit/index.ts'
import type { TelegramClient } from './client.ts'

/** What getFile gives out, and what a bot may send. */
const MAX_DOWNLOAD_BYTES = 20 * 1_048_576
const MAX_UPLOAD_BYTES = 50 * 1_048_576
const PLATFORM_FILE = 'telegram:'

export interface FileStore extends Shelf {
  /** `telegram:FILE_ID` sends what Telegram already has; null for everything else. */
  platformFile(ref: string): string | null
}

export function createFileStore(
  client: TelegramClient,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
  quota?: FetchedQuota,
): FileStore {
  const shelf = createShelf(deps, {
    async bytesOf({ ref, size }) {
      if ((size ?? 0) > MAX_DOWNLOAD_BYTES) throw tooLarge()
      const file = await client.call('getFile', { file_id: ref }, { repeatable: true })
      const path = file.file_path
      // A local Bot API server names a path of its own machine; that is not a place we read from.
      if (path === undefined || path.startsWith('/') || path.split('/').includes('..')) {
        throw new SwitchboardError('platform_rejected', 'Telegram gives no download for this file')
      }
      if ((file.file_size ?? 0) > MAX_DOWNLOAD_BYTES) throw tooLarge()
      return { bytes: await client.file(path, MAX_DOWNLOAD_BYTES), name: path }
    },
    mostBytes: MAX_UPLOAD_BYTES,
    tooLarge: 'the file is over 50 MB, which is all a bot may send',
    ...defined({ quota }),
  })
  return {
    ...shelf,
    platformFile: (ref) => (ref.startsWith(PLATFORM_FILE) ? ref.slice(PLATFORM_FILE.length) : null),
  }
}

function tooLarge(): SwitchboardError {
  return new SwitchboardError('too_large', 'the file is over 20 MB, which is all that Telegram gives to bots')
}
