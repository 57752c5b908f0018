// Folders for tests that are not about the disk. They are in memory if the machine has room, so that a sync costs
// nothing.
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 1_000_000_000

/** Makes a new folder. The caller removes it. Tests of power cuts use a real disk instead. */
export function scratchFolder(prefix: string): string {
  return mkdtempSync(join(scratchRoot(), prefix))
}

/** The parent of such folders. */
export function scratchRoot(roomBytes = ROOM_BYTES): string {
  return hasRoom(roomBytes) ? MEMORY : tmpdir()
}

function hasRoom(roomBytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > roomBytes
  } catch {
    // Not every system has such a folder.
    return false
  }
}
