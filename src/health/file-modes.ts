// Checks for `doctor --security` who else may read or change the gateway's files. `--fix` repairs the modes of our own
// files.
import { closeSync, constants, fchmodSync, fstatSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DataFolder } from '../config/index.ts'
import { shellWord } from '../config/instance/shell-word.ts'
import { isForeign } from '../config/secrets/private-file.ts'
import type { GuardedFiles, SecurityFinding, Severity } from '../contract/index.ts'
import { wordsIn } from '../words/index.ts'
import { asRisk, type Risk } from './checks.ts'

/** `folder`, `key` and `kept` belong to us, and no other user needs them. The others belong to the operator. */
export type FileRole = 'folder' | 'key' | 'kept' | 'secret' | 'config' | 'config folder'

export interface FileFact {
  readonly path: string
  readonly role: FileRole
  /** The permission bits, including the sticky bit. */
  readonly mode: number
  /** Another user owns it. */
  readonly foreign: boolean
}

export interface FileLook {
  readonly files: readonly FileFact[]
  readonly unseen: readonly string[]
}

const OTHERS_WRITE = 0o002
const GROUP_WRITES = 0o020
const ANY_ELSE = 0o077
const STICKY = 0o1000

/**
 * Reads the modes of existing files; a link is judged by its target. `unseen`: files that could not be read, and why.
 */
export function lookAtFiles(folder: DataFolder, guarded: GuardedFiles): FileLook {
  const { database } = guarded
  const roles: readonly (readonly [FileRole, readonly string[]])[] = [
    ['folder', [folder.path, folder.attachments]],
    ['key', [folder.keyFile, folder.ledgerKeyFile, folder.adminTokenFile]],
    [
      'kept',
      [folder.logFile, ...(database === null ? [] : ['', '-wal', '-shm'].map((end) => database + end))],
    ],
    ['secret', guarded.secrets],
    ['config', guarded.config],
    ['config folder', [...new Set(guarded.config.map((file) => dirname(file)))]],
  ]
  const files: FileFact[] = []
  const unseen: string[] = []
  const { unjudged } = wordsIn().security
  for (const [role, paths] of roles)
    for (const path of paths) {
      try {
        const found = statSync(path, { throwIfNoEntry: false })
        if (found !== undefined)
          files.push({ path, role, mode: found.mode & 0o1777, foreign: isForeign(found.uid) })
      } catch (thrown) {
        unseen.push(unjudged.mode({ path, code: (thrown as NodeJS.ErrnoException).code }))
      }
    }
  return { files, unseen }
}

export function fileFindings(files: readonly FileFact[]): readonly SecurityFinding[] {
  return files.flatMap((file) => judge(file) ?? []).map(asRisk)
}

function judge({ path, role, mode, foreign }: FileFact): Risk | null {
  const words = wordsIn().security.files
  if (role === 'key' && foreign) {
    const text = words.keyOfAnother({ path })
    return { severity: 'high', text, remedy: `chown ${process.getuid?.()} ${shellWord(path)}` }
  }
  const writers = (mode & STICKY) !== 0 && role === 'config folder' ? 0 : mode & (OTHERS_WRITE | GROUP_WRITES)
  const shown = { path, mode: (mode & 0o777).toString(8) }
  const read = { ...shown, by: (mode & 0o007) === 0 ? ('group' as const) : ('others' as const) }
  const write = { ...shown, by: (writers & OTHERS_WRITE) === 0 ? ('group' as const) : ('others' as const) }
  const say = (severity: Severity, text: string, bits: string, ours: boolean): Risk => {
    const remedy = `chmod ${bits} ${shellWord(path)}`
    return { severity, text, remedy, ...(ours ? { fix: remedy } : {}) }
  }
  switch (role) {
    case 'folder':
      if (writers !== 0) return say('high', words.writesFolder(write), '700', true)
      return (mode & ANY_ELSE) === 0 ? null : say('medium', words.looksIntoFolder(read), '700', true)
    case 'key':
      return (mode & ANY_ELSE) === 0 ? null : say('high', words.key(read), '600', true)
    case 'kept':
      return (mode & ANY_ELSE) === 0
        ? null
        : say(writers === 0 ? 'medium' : 'high', words.kept(read), '600', true)
    case 'secret':
      if (writers !== 0) return say('high', words.changesSecret(write), '600', false)
      return (mode & ANY_ELSE) === 0 ? null : say('medium', words.readsSecret(read), '600', false)
    default: {
      if (writers === 0) return null
      const severity = (writers & OTHERS_WRITE) === 0 ? 'medium' : 'high'
      const text = role === 'config' ? words.config(write) : words.configFolder(write)
      return say(severity, text, 'go-w', false)
    }
  }
}

/** Removes unneeded permissions of other users from our files, and reports each result. Changes nothing else. */
export function mendFiles(files: readonly FileFact[]): readonly SecurityFinding[] {
  return files.flatMap((file) => {
    const found = judge(file)
    if (found === null) return []
    return { ...asRisk(found), ...(found.fix === undefined ? {} : { fixed: closeToOthers(file) }) }
  })
}

function closeToOthers({ path, role }: FileFact): boolean {
  const isFolder = role === 'folder'
  // Changed on the open handle, so a link placed meanwhile, or another name of a foreign file, is left alone.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  let handle: number
  try {
    handle = openSync(path, flags)
  } catch {
    return false
  }
  try {
    const facts = fstatSync(handle)
    const ours = facts.uid === process.getuid?.()
    if (!ours || (isFolder ? !facts.isDirectory() : !facts.isFile() || facts.nlink > 1)) return false
    fchmodSync(handle, isFolder ? 0o700 : 0o600)
    return true
  } catch {
    return false
  } finally {
    closeSync(handle)
  }
}
