// Writes a configuration file: the text is checked first, then what it refers to is kept, and the file comes last. A crash
// leaves the old file or the new one, never a half.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import type { DataFolder } from '../config/instance/data-folder.ts'
import { SwitchboardError } from '../contract/index.ts'
import { checkText } from './check-file.ts'
import { usage } from './usage.ts'

export interface FileChange {
  readonly path: string
  readonly text: string
  /** What the file held when it was read. Null: it is new. */
  readonly before: string | null
  /** Overwrites a file that is new to us. */
  readonly force?: boolean
  /** Keeps the secrets that the text refers to. */
  keep?(): Promise<void>
}

/** Throws with what is wrong; then nothing was kept and nothing written. */
export async function writeConfigFile(folder: DataFolder, change: FileChange): Promise<void> {
  const { path, text, before, force = false } = change
  if (before === null) demandFree(path, force)
  const problem = await checkText(text, path, folder)
  if (problem !== null) throw usage(`${path} would not be valid, nothing was written:\n${problem}`)
  if (before !== null && readFileSync(path, 'utf8') !== before)
    throw new SwitchboardError('conflict', `${path} was changed meanwhile; nothing was written`, {
      hint: 'run it again',
    })
  await change.keep?.()
  if (!writeWhole(path, text, { replace: before !== null || force })) throw isThereAlready(path)
}

export function demandFree(path: string, force: boolean): void {
  if (!force && existsSync(path)) throw isThereAlready(path)
}

function isThereAlready(path: string): SwitchboardError {
  return new SwitchboardError('input_invalid', `${path} is there already`, {
    hint: 'overwrite it with --force, or write elsewhere with --config FILE',
  })
}

/** Writes it whole or not at all, also when the disk is full. False: a file is there, and is not to be replaced. */
export function writeWhole(
  path: string,
  text: string,
  { replace, mode = 0o644 }: { readonly replace: boolean; readonly mode?: number },
): boolean {
  let beside = ''
  try {
    mkdirSync(dirname(path), { recursive: true })
    const old = statSync(path, { throwIfNoEntry: false })
    const target = replace && old ? realpathSync(path) : path
    beside = `${target}.${randomBytes(4).toString('hex')}.new`
    const handle = openSync(beside, 'wx', (old?.mode ?? mode) & 0o777)
    try {
      writeSync(handle, text)
      fsyncSync(handle)
    } finally {
      closeSync(handle)
    }
    if (replace) renameSync(beside, target)
    else linkSync(beside, target)
    return true
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    if (!replace && code === 'EEXIST' && existsSync(path)) return false
    throw new SwitchboardError('execution_failed', `cannot write ${path}: ${message}`, { cause: thrown })
  } finally {
    if (beside !== '') rmSync(beside, { force: true })
  }
}
