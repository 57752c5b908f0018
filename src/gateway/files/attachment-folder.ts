// Deletes old files on this node's disk, so that retention applies to the attachments folder too.
import { opendir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Removes files written before `before`, one after another, including those of removed integrations and unfinished
 * ones. Returns how many.
 */
export async function pruneAttachmentFolder(
  folder: string,
  before: number,
  stopped: () => boolean,
): Promise<number> {
  let removed = 0
  for await (const integration of entriesOf(folder)) {
    if (!integration.isDirectory()) continue
    const inside = join(folder, integration.name)
    for await (const file of entriesOf(inside)) {
      if (stopped()) return removed
      if (!file.isFile()) continue
      const path = join(inside, file.name)
      const found = await stat(path).catch(() => null)
      if (found === null || found.mtimeMs >= before) continue
      // Another process may have removed it first.
      await unlink(path).catch((thrown: NodeJS.ErrnoException) => {
        if (thrown.code !== 'ENOENT') throw thrown
      })
      removed += 1
    }
  }
  return removed
}

async function* entriesOf(folder: string) {
  try {
    yield* await opendir(folder)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown
  }
}
