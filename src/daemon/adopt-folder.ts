// Moves a data folder beside the configuration file that it belongs to. First both folders get a note of the move, so
// that no daemon starts on half of it. Then the entries are moved one by one. Then the notes are removed. The next call
// finishes an interrupted move, because moved entries are no longer at the old place.
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { readHolderNote } from '../config/instance/daemon-note.ts'
import { type DataFolder, prepareDataFolder } from '../config/instance/data-folder.ts'
import { createPrivate } from '../config/secrets/private-file.ts'
import { SwitchboardError } from '../contract/index.ts'
import { lockDataFolder } from './data-folder-lock.ts'

/** Entries of the home folder that stay: the named instances, and the record of known files. */
const STAYS = new Set(['instances', 'known'])
/** Files of a running daemon. They are created again at the next start. */
const MADE_ANEW = [
  ...['switchboard.lock', 'daemon.json', 'starting.json'],
  ...['switchboard.sock', 'a.sock', 'adopting.json'],
]
const MAY_BE_THERE = new Set([...MADE_ANEW, '.gitignore', 'attachments', 'daemon.log', ...STAYS])

/** Calls `moved` for each moved entry. Throws `conflict` if a daemon holds one of the folders, or if both hold data. */
export function adoptFolder(from: DataFolder, to: DataFolder, moved: (entry: string) => void): void {
  if (from.path === to.path)
    throw new SwitchboardError('input_invalid', `${from.path} is where it belongs already`)
  // The last call moved all entries before it was interrupted. This call only cleans up.
  if (!existsSync(from.database) && existsSync(to.database) && readMove(to) === null) return
  const unfinished = isMoveBetween(from, to)
  if (!unfinished) demandMovable(from, to)
  const release = [lockOf(from)]
  try {
    prepareDataFolder(to)
    release.push(lockOf(to))
    const note = `${JSON.stringify({ from: from.path, to: to.path })}\n`
    for (const folder of [to, from])
      if (!existsSync(folder.adoptionFile)) createPrivate(folder.adoptionFile, note)
    for (const entry of readdirSync(from.path)) {
      if (STAYS.has(entry) || MADE_ANEW.includes(entry)) continue
      move(join(from.path, entry), join(to.path, entry))
      moved(entry)
    }
    for (const folder of [from, to]) rmSync(folder.adoptionFile, { force: true })
  } finally {
    for (const one of release) one()
  }
  for (const entry of MADE_ANEW) rmSync(join(from.path, entry), { force: true })
  try {
    rmdirSync(from.path)
  } catch {
    // The folder still contains other instances or foreign files, so it stays.
  }
}

/** Throws `config_invalid` if a move of this folder is unfinished. */
export function demandWhole(folder: DataFolder): void {
  const move = readMove(folder)
  if (move === null) return
  throw new SwitchboardError('config_invalid', `the data folder ${folder.path} is half moved`, {
    hint: `finish it in the folder of the file: switchboard instances adopt ${move.from}`,
  })
}

function isMoveBetween(from: DataFolder, to: DataFolder): boolean {
  const move = readMove(to)
  return move !== null && move.from === from.path && move.to === to.path
}

function readMove(folder: DataFolder): { readonly from: string; readonly to: string } | null {
  if (!existsSync(folder.adoptionFile)) return null
  try {
    return JSON.parse(readFileSync(folder.adoptionFile, 'utf8')) as { from: string; to: string }
  } catch {
    return { from: 'DIR', to: folder.path }
  }
}

function demandMovable(from: DataFolder, to: DataFolder): void {
  if (!existsSync(from.database))
    throw new SwitchboardError('not_found', `there is no database in ${from.path}`, {
      hint: 'name the folder that holds switchboard.db',
    })
  demandWhole(from)
  const there = existsSync(to.path) ? readdirSync(to.path).filter((entry) => !MAY_BE_THERE.has(entry)) : []
  const files = existsSync(to.attachments) ? readdirSync(to.attachments) : []
  if (there.length + files.length === 0) return
  throw new SwitchboardError('conflict', `${to.path} holds data of its own (${there[0] ?? 'attachments'})`, {
    hint: `two histories cannot be joined: move ${to.path} away first, or run the old one with --data ${from.path}`,
  })
}

function lockOf(folder: DataFolder): () => void {
  const lock = lockDataFolder(folder)
  if (lock !== null) return () => lock.release()
  const { note } = readHolderNote(folder)
  throw new SwitchboardError(
    'conflict',
    `a daemon holds ${folder.path}${note === null ? '' : ` (process ${note.pid})`}`,
    { hint: 'stop it first; nothing was moved' },
  )
}

/** Renames within a file system. Between two, it copies to a draft first, so that only a whole copy counts. */
function move(from: string, to: string): void {
  if (basename(to) === 'attachments' && existsSync(to) && readdirSync(to).length === 0) rmdirSync(to)
  try {
    if (existsSync(to)) rmSync(from, { recursive: true })
    else renameSync(from, to)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown
    const part = `${to}.part`
    rmSync(part, { recursive: true, force: true })
    cpSync(from, part, { recursive: true, preserveTimestamps: true })
    flush(part)
    renameSync(part, to)
    rmSync(from, { recursive: true })
  }
}

/** Syncs the copy to the disk before the original is removed. */
function flush(path: string): void {
  if (statSync(path).isDirectory()) for (const entry of readdirSync(path)) flush(join(path, entry))
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
