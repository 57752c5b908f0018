// Whether the files of an open SQLite database are still those at their paths. The engine would not notice: it goes on
// writing to a file that has no name any more, and what it acknowledged would be gone at the restart.
//
// The handle of the main file is our own and stays open as long as the store does: closing any handle of a file gives up
// all locks that this process has on it.
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
  /** What happened to the files at their paths, in words that follow the file's name; null: they are ours. */
  difference(now: number): string | null
  /** The same of their content alone, quickly: asked before every commit, for one on top of it would be lost. */
  damage(now: number): string | null
  /** A commit of our own is over. */
  wrote(): void
  /** The log was folded into the file by ourselves. */
  folded(): void
  /** Frames in the log when its damage was last looked for; 0 where all of them were folded already. */
  logFrames(): number
  release(): void
}

const BESIDE = ['-wal', '-shm'] as const
const CUT = 'is damaged: its -wal file was cut short or written over'
const OVERWRITTEN = 'was written over by somebody else'

/** `before`: the file as it was before the engine opened it, from `fileBefore`. Throws `store_unavailable`. */
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
    // In this mode the file only ever grows.
    if (own.size < largest) return 'was cut short'
    largest = own.size
    return null
  }

  /** Whoever begins the log anew says so in its index first: if that has not changed, it was somebody else. */
  const isLogCut = (before: WalIndex | null): boolean => {
    if (before === null || !log.isDamaged(before)) return false
    const after = index.read()
    return after !== null && after.salts === before.salts && after.frames === before.frames
  }

  // What was cut out or written over does not come back by itself.
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
        // The engine makes them with its first read, and they stay for as long as it has the database open.
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
  // Remembers what lies beside it from the start.
  identity.difference(0)
  return identity
}

/** Its pages belong to the file that was: whoever opened the other one with it would mix the two. The engine has it open. */
function setLogAside(real: string, own: BigIntStats | undefined, now: number): void {
  const present = look(`${real}-wal`)
  if (own === undefined || typeof present === 'string' || !same(present, own)) return
  try {
    renameSync(`${real}-wal`, damagedLogName(real, now))
  } catch {
    // It is gone with the rest.
  }
}

/** Null: there is none yet. */
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

/** The time of birth tells apart what a file server gave the same number twice. */
function same(one: BigIntStats, other: BigIntStats): boolean {
  const born = one.birthtimeNs === 0n || other.birthtimeNs === 0n || one.birthtimeNs === other.birthtimeNs
  return one.dev === other.dev && one.ino === other.ino && born
}
