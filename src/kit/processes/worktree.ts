// A git worktree per session, so that two sessions of one repository do not overwrite each other's files. It is kept
// while the session may return. One with changes is never removed.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { SwitchboardError } from '../../contract/index.ts'

const GIT_MS = 60_000

/**
 * Creates or finds the worktree of `repository` at `folder`, on a branch of its own. Throws `agent_absent` with git's
 * own words.
 */
export async function openWorktree(
  { repository, folder, branch }: { repository: string; folder: string; branch: string },
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  if (existsSync(`${folder}/.git`)) return folder
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  const git = (...args: string[]) =>
    new Promise<void>((resolve, reject) => {
      const options = { env: { ...environment }, timeout: GIT_MS, maxBuffer: 1_048_576 }
      execFile('git', ['-C', repository, ...args], options, (error, _out, said) => {
        if (!error) return resolve()
        const words = said.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
        const why = 'code' in error && error.code === 'ENOENT' ? 'git is not on PATH' : words || error.message
        // With its cause: unlike a start that has to wait, this one was tried and failed, and is reported.
        reject(
          new SwitchboardError('agent_absent', `no git worktree of ${repository}: ${why}`, { cause: error }),
        )
      })
    })
  await git('worktree', 'prune')
  // The branch may exist from a session whose folder was removed.
  await git('worktree', 'add', '-b', branch, folder).catch(() => git('worktree', 'add', folder, branch))
  return folder
}

/** Returns why an agent cannot work in this folder, which is never created; null: it can. Never throws. */
export function folderProblem(path: string): string | null {
  const remedy = 'make it, or name another by connector.cwd'
  try {
    if (statSync(path).isDirectory()) return null
    return `the folder it works in is a file: ${path}; ${remedy}`
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    const why = code === undefined ? message : (WHY_NOT[code] ?? `cannot be looked at (${code})`)
    return `the folder it works in ${why}: ${path}; ${remedy}`
  }
}

const WHY_NOT: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  ENOTDIR: 'is not there, for a part of its path is a file',
  ELOOP: 'is a link that leads back to itself',
  EACCES: 'may not be looked at by this user (EACCES)',
}
