// Copies of a database whose file was removed under a running daemon, and whether they are still needed.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { realPath } from './database-lock.ts'

const RESCUED = '.rescued-'
const DAMAGED = '.damaged-'

/** Where a copy of this database goes: beside it, else into the data folder, else into the temporary folder. */
export function rescuePlaces(file: string, dataDir: string): readonly string[] {
  const real = realPath(file)
  const name = createHash('sha256').update(real).digest('hex').slice(0, 12)
  return [...new Set([real, join(dataDir, basename(real)), join(tmpdir(), `switchboard-${name}.db`)])]
}

export function rescuedName(place: string, now: number): string {
  return `${place}${RESCUED}${timeMark(now)}`
}

/** `20261116T154500Z`: sorts by time and contains no colon. */
function timeMark(now: number): string {
  return new Date(now).toISOString().replace(/[-:]|\.\d+/g, '')
}

/** Where the log of an overwritten database goes. Left in place, it would destroy the new file as well. */
export function damagedLogName(file: string, now: number): string {
  return `${file}${DAMAGED}${timeMark(now)}-wal`
}

/** Returns the newest such log beside this database; null: none. */
export function damagedLog(file: string): string | null {
  const real = realPath(file)
  const begin = basename(real) + DAMAGED
  try {
    const [newest] = readdirSync(dirname(real))
      .filter((name) => name.startsWith(begin) && /^\d{8}T\d{6}Z-wal$/.test(name.slice(begin.length)))
      .sort()
      .reverse()
    return newest === undefined ? null : join(dirname(real), newest)
  } catch {
    return null
  }
}

/** Returns a rescued copy with data that the database lacks; null: none. */
export function neededRescue(file: string, places: readonly string[]): string | null {
  const copies = places.flatMap(copiesAt)
  return copies.find((copy) => !holds(file, copy)) ?? null
}

function copiesAt(place: string): readonly string[] {
  const folder = dirname(place)
  const begin = basename(place) + RESCUED
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith(begin) && /^\d{8}T\d{6}Z$/.test(name.slice(begin.length)))
      .map((name) => join(folder, name))
      .filter(isOurs)
      .sort()
      .reverse()
  } catch {
    return []
  }
}

/** The last place is writable by everyone. Files of other users do not count. */
function isOurs(path: string): boolean {
  const found = lstatSync(path)
  return found.isFile() && (process.getuid === undefined || found.uid === process.getuid())
}

interface Chain {
  readonly id: number
  readonly n: number
  readonly head: string
}

/** Every commit leaves an entry, so the ledger's chains show whether one database contains another. */
function holds(file: string, copy: string): boolean {
  const theirs = existsSync(file) ? chainsOf(file) : null
  const ours = chainsOf(copy)
  if (theirs === null || ours === null || theirs.tag !== ours.tag) return false
  return ours.chains.every(({ id, n, head }) =>
    theirs.chains.some((chain) => chain.id === id && (chain.n > n || (chain.n === n && chain.head === head))),
  )
}

/** Returns the tag of the database; null: it is empty or not a Switchboard database. */
export function tagOf(file: string): string | null {
  return chainsOf(file)?.tag ?? null
}

/**
 * Returns what is missing in a copy that should end where this chain ended; null: nothing. `deep`: also checks its
 * pages.
 */
export function lacking(
  copy: string,
  expected: { readonly tag: string; readonly chain: Chain | null; readonly deep: boolean },
): string | null {
  const found = chainsOf(copy)
  if (found === null || found.tag !== expected.tag) return 'it cannot be read'
  const { chain } = expected
  const ended = found.chains.some(
    (one) => one.id === chain?.id && one.n === chain.n && one.head === chain.head,
  )
  if (chain !== null && !ended) return 'the newest entries are not in it'
  return expected.deep ? damageOf(copy) : null
}

function damageOf(file: string): string | null {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const [row] = database.prepare('PRAGMA quick_check(1)').all() as { quick_check?: string }[]
    return row?.quick_check === 'ok' ? null : 'its pages do not fit together'
  } catch {
    return 'its pages cannot be read'
  } finally {
    database.close()
  }
}

/** Null: the file is empty or not a Switchboard database. */
function chainsOf(file: string): { readonly tag: string; readonly chains: readonly Chain[] } | null {
  let database: DatabaseSyncInstance | null = null
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 2000 })
    const tag = database.prepare(`SELECT value FROM meta WHERE name = 'tag'`).get() as { value: string }
    const chains = database.prepare('SELECT id, n, head FROM ledger_chains').all() as unknown as Chain[]
    return { tag: tag.value, chains }
  } catch {
    return null
  } finally {
    database?.close()
  }
}
