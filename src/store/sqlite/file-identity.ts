// Checks that the files of an open SQLite database are still those at their paths. The engine does not notice a change:
// it continues to write to a file without a name, and acknowledged data would be lost at the restart.
//
// The handle of the main file is ours and stays open as long as the store. Closing any handle of a file would release
// all locks that this process holds on it.
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
} from 'node:fs'
import { SwitchboardError } from '../../contract/index.ts'
import { followContent } from './file-content.ts'
import { openLogFile } from './log-damage.ts'
import { damagedLogName } from './rescued.ts'
import { openWalIndex, type WalIndex } from './wal-index.ts'

export interface FileIdentity {
  /** What happened to the files, in words that follow the file's name; null: they are ours. */
  difference(now: number): string | null
  /**
   * The same for the content only. It is quick and runs before every commit, because a commit on damaged content would
   * be lost.
   */
  damage(now: number): string | null
  /** Called after a commit of our own. */
  wrote(): void
  /** Called after our own fold of the log. */
  folded(): void
  /** Frames in the log at the last damage check; 0 if all were folded. */
  logFrames(): number
  release(): void
}

const BESIDE = ['-wal', '-shm'] as const
const CUT = 'is damaged: its -wal file was cut short or written over'
const OVERWRITTEN = 'was written over by somebody else'

/**
 * Opens the watch. `before`: the file's state before the engine opened it, from `fileBefore`. Throws
 * `store_unavailable` if the file was replaced.
 */
export function holdIdentity(file: string, before: BigIntStats | null): FileIdentity {
  const real = realpathSync(file)
  const handle = openSync(real, 'r')
  const opened = fstatSync(handle, { bigint: true })
  if (before !== null && before.ino !== opened.ino) {
    closeSync(handle)
    throw new SwitchboardError('store_unavailable', `the database ${file} was replaced while it was opened`, {
      hint: 'find out what else writes to this path, then start again',
    })
  }
  let largest = opened.size
  const beside = new Map<string, BigIntStats>()
  const index = openWalIndex(`${real}-shm`)
  const content = followContent(handle, index)
  const log = openLogFile(`${real}-wal`, (file) => {
    const own = beside.get('-wal')
    return own !== undefined && same(file, own)
  })

  const main = (): string | null => {
    const present = look(real)
    if (typeof present === 'string') return present
    if (present.isSymbolicLink()) return 'was replaced by a link'
    const own = fstatSync(handle, { bigint: true })
    if (!same(present, own)) return 'was replaced by another file'
    if (resolved(file) !== real) return 'is no longer where its path leads'
    // In this mode the file never shrinks.
    if (own.size < largest) return 'was cut short'
    largest = own.size
    return null
  }

  /** The engine records a new log in the index first. If the index is unchanged, another program cut the log. */
  const isLogCut = (before: WalIndex | null): boolean => {
    if (before === null || !log.isDamaged(before)) return false
    const after = index.read()
    return after !== null && after.salts === before.salts && after.frames === before.frames
  }

  // Damage never heals, so it is remembered.
  let damaged: string | null = null
  let frames = 0
  const damageAt = (now: number): string | null => {
    if (damaged !== null) return damaged
    const before = index.read()
    frames = before === null || before.folded === before.frames ? 0 : before.frames
    if (content.isForeign(before)) {
      damaged = OVERWRITTEN
      setLogAside(real, beside.get('-wal'), now)
    }
    if (damaged === null && isLogCut(before)) damaged = CUT
    return damaged
  }

  const identity: FileIdentity = {
    difference(now) {
      const damage = damageAt(now)
      const wrong = main() ?? damage
      if (wrong !== null) return wrong
      for (const ending of BESIDE) {
        const present = look(real + ending)
        const known = beside.get(ending)
        // The engine creates them with its first read, and they exist as long as the database is open.
        if (known === undefined && typeof present !== 'string') beside.set(ending, present)
        else if (known === undefined) continue
        else if (typeof present === 'string') return `lost its ${ending} file, which ${present}`
        else if (!same(present, known)) return `lost its ${ending} file, which was replaced by another`
      }
      return null
    },
    damage: damageAt,
    wrote: () => content.committed(),
    folded: () => content.folded(),
    logFrames: () => frames,
    release() {
      index.release()
      log.release()
      closeSync(handle)
    },
  }
  // Records the files beside it from the start.
  identity.difference(0)
  return identity
}

/**
 * The log's pages belong to the former file. Opening another file with this log would mix the two. The engine keeps
 * its open handle.
 */
function setLogAside(real: string, own: BigIntStats | undefined, now: number): void {
  const present = look(`${real}-wal`)
  if (own === undefined || typeof present === 'string' || !same(present, own)) return
  try {
    renameSync(`${real}-wal`, damagedLogName(real, now))
  } catch {
    // The log is gone with the rest.
  }
}

/** Returns the file's state; null: there is no file yet. */
export function fileBefore(file: string): BigIntStats | null {
  try {
    return lstatSync(realpathSync(file), { bigint: true })
  } catch {
    return null
  }
}

function look(path: string): BigIntStats | string {
  try {
    return lstatSync(path, { bigint: true })
  } catch (thrown) {
    const { code = 'unknown' } = thrown as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'was removed' : `cannot be looked at (${code})`
  }
}

function resolved(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

/** The birth time distinguishes files to which a file server gave the same number. */
function same(one: BigIntStats, other: BigIntStats): boolean {
  const born = one.birthtimeNs === 0n || other.birthtimeNs === 0n || one.birthtimeNs === other.birthtimeNs
  return one.dev === other.dev && one.ino === other.ino && born
}
