// Whether the files of an open SQLite database are still those at their paths. The engine would not notice: it goes on
// writing to a file that has no name any more, and what it acknowledged would be gone at the restart.
//
// The handle of the main file is our own and stays open as long as the store does: closing any handle of a file gives up
// all locks that this process has on it.
import { type BigIntStats, closeSync, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs'
import { SwitchboardError } from '../../contract/index.ts'
import { followLog } from './log-length.ts'

export interface FileIdentity {
  /** What happened to the files at their paths, in words that follow the file's name; null: they are ours. */
  difference(): string | null
  release(): void
}

const BESIDE = ['-wal', '-shm'] as const
const CUT = 'is damaged: its -wal file was cut short'

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
  const log = followLog(`${real}-wal`)

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

  // What was cut out does not come back by itself.
  let wasCut = false
  const cut = (size: number): boolean => {
    wasCut ||= log.wasCut(size)
    return wasCut
  }

  const identity: FileIdentity = {
    difference() {
      const wrong = main()
      if (wrong !== null) return wrong
      for (const ending of BESIDE) {
        const present = look(real + ending)
        const known = beside.get(ending)
        // The engine makes them with its first read, and they stay for as long as it has the database open.
        if (known === undefined && typeof present !== 'string') beside.set(ending, present)
        else if (known === undefined) continue
        else if (typeof present === 'string') return `lost its ${ending} file, which ${present}`
        else if (!same(present, known)) return `lost its ${ending} file, which was replaced by another`
        if (ending === '-wal' && typeof present !== 'string' && cut(Number(present.size))) return CUT
      }
      return null
    },
    release: () => closeSync(handle),
  }
  // Remembers what lies beside it from the start.
  identity.difference()
  return identity
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
