// Secrets and git: `init` keeps them out of a repository, `check` names those that git has or would take.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

const HEAD = '# Switchboard: its state and its secrets are nobody else’s'
const GIT_MS = 5_000

/** The folder with the `.git`. Null: the folder is in no repository. */
function repositoryOf(folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return null
  }
}

/** Adds what is missing to the `.gitignore` of the folder. False: it is in no repository, or nothing was missing. */
export async function ignoreSecrets(folder: string, secrets: readonly string[] = []): Promise<boolean> {
  if (repositoryOf(folder) === null) return false
  const file = join(folder, '.gitignore')
  const written = await readFile(file, 'utf8').catch(() => '')
  const lines = new Set(written.split(/\r?\n/).map((line) => line.trim()))
  const missing = ['/.switchboard/', ...secrets.map((path) => `/${basename(path)}`)].filter(
    (line) => !lines.has(line),
  )
  if (missing.length === 0) return false
  const gap = written === '' || written.endsWith('\n') ? '' : '\n'
  await appendFile(file, `${gap}${[HEAD, ...missing].join('\n')}\n`)
  return true
}

/** The files that git has, or would take with the next `git add`. None when there is no git. */
export async function takenByGit(
  files: readonly string[],
): Promise<readonly { readonly file: string; readonly tracked: boolean }[]> {
  const taken: { file: string; tracked: boolean }[] = []
  for (const file of files) {
    const folder = dirname(file)
    if (!existsSync(file) || repositoryOf(folder) === null) continue
    const name = basename(file)
    if ((await git(folder, ['ls-files', '--error-unmatch', '--', name])) === 0)
      taken.push({ file, tracked: true })
    // 1: it is not ignored. Any other code: git itself failed.
    else if ((await git(folder, ['check-ignore', '-q', '--', name])) === 1)
      taken.push({ file, tracked: false })
  }
  return taken
}

function git(cwd: string, args: readonly string[]): Promise<number | null> {
  return new Promise((done) => {
    execFile('git', args, { cwd, timeout: GIT_MS }, (error) => {
      const code: unknown = error === null ? 0 : error.code
      done(typeof code === 'number' ? code : null)
    })
  })
}
