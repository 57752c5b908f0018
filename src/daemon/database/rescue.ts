// Saves what a store holds whose file was taken from under it: one whole copy, in the first place that has room for it.
import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { type DatabaseFile, SwitchboardError } from '../../contract/index.ts'
import { rescuedName } from '../../store/sqlite/rescued.ts'

export interface Rescued {
  readonly path: string
  /** Why an earlier place was not taken. */
  readonly passed: readonly string[]
}

/** Throws `store_corrupt` when what is left is not whole, and when none of the places takes it, with the reason of each. Nobody ever finds half of a copy. */
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
      // Made before a byte is in it: private from the first one on.
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
      // No other place would take more of it.
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
