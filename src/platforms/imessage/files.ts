// Files that people send lie in the folder of Messages on this disk. They are read from there only.
import { readFile, realpath, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { sep } from 'node:path'
import { type Attachment, type PlatformDeps, SwitchboardError } from '../../contract/index.ts'
import { createFileStore, type FileStore, overLimit } from '../../kit/index.ts'
import type { ChatDb } from './chat-db.ts'
import type { IMessageConfig } from './config.ts'

const LIMIT = { maxBytes: 100 * 1_048_576 }

export function createIMessageFiles(
  db: () => ChatDb,
  config: Pick<IMessageConfig, 'filesDir'>,
  deps: Pick<PlatformDeps, 'filesDir' | 'random' | 'mirror'>,
): FileStore {
  return createFileStore(deps, {
    async bytesOf({ ref }: Attachment) {
      const row = db().file(ref)
      const written = row?.path?.replace(/^~(?=\/)/, homedir()) ?? null
      const found = written === null ? null : await realpath(written).catch(() => null)
      if (row === null || found === null)
        throw new SwitchboardError(
          'platform_rejected',
          'the file is not on this Mac: it was not loaded, or is gone',
        )
      const folder = await realpath(config.filesDir).catch(() => null)
      if (folder === null || !found.startsWith(folder + sep))
        throw new SwitchboardError('platform_rejected', 'the file lies outside of Messages and is not read')
      if ((await stat(found)).size > LIMIT.maxBytes) throw overLimit('too_large', LIMIT)
      return { bytes: await readFile(found), name: row.name ?? 'file' }
    },
    sent: LIMIT,
  })
}
