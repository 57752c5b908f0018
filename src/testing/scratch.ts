// Folders for tests that are not about the disk: in memory where the machine has room there, so that a sync costs
// nothing.
import { mkdtempSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const ROOM_BYTES = 1_000_000_000

/** A new folder. Whoever asks for it removes it. What must survive a power cut is tested elsewhere, on a real disk. */
export function scratchFolder(prefix: string): string {
  return mkdtempSync(join(scratchRoot(), prefix))
}

/** Where such folders are made. */
export function scratchRoot(roomBytes = ROOM_BYTES): string {
  return hasRoom(roomBytes) ? MEMORY : tmpdir()
}

function hasRoom(roomBytes: number): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize > roomBytes
  } catch {
    return false // not every system has such a folder
  }
}
