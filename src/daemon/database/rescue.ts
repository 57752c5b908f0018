// Rescues the content of a store whose file was removed while it was open. It writes one whole copy to the first place
// with enough room.
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DatabaseFile, SwitchboardError } from '../../contract/index.ts'
import { rescuedName } from '../../store/sqlite/rescued.ts'

export interface Rescued {
  readonly path: string
  /** Why earlier places failed. */
  readonly passed: readonly string[]
}

/**
 * A partial copy is never visible under the final name. Throws `store_corrupt` if the remaining content is not whole,
 * and if every place fails, with the reason of each.
 */
export async function rescue(
  file: Pick<DatabaseFile, 'copyTo'>,
  places: readonly string[],
  now: number,
): Promise<Rescued> {
  const passed: string[] = []
  for (const place of places) {
    const path = rescuedName(place, now)
    const half = `${path}.part`
    try {
      // The file is created empty first, so that it is private from its first byte.
      closeSync(openSync(half, 'wx', 0o600))
      chmodSync(half, 0o600)
      await file.copyTo(half)
      sync(half)
      renameSync(half, path)
      sync(dirname(path))
      return { path, passed }
    } catch (thrown) {
      for (const left of [half, `${half}-journal`, `${half}-wal`, `${half}-shm`])
        rmSync(left, { force: true })
      // Another place would not save more of it.
      if (thrown instanceof SwitchboardError && thrown.code === 'store_corrupt') throw thrown
      passed.push(`${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
  throw new Error(passed.join('; '))
}

function sync(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
