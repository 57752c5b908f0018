// Builds dist/ if it is missing or older than its sources. The tests run the real binary.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'dist/cli/main.js')

/** Returns the exit code of the build, or 0 if it was up to date. */
export function ensureBuilt() {
  if (existsSync(built) && statSync(built).mtimeMs >= newestSource()) return 0
  console.log('Building dist/ …')
  const done = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: 'inherit' })
  return done.status ?? 1
}

function newestSource() {
  const folders = ['src', 'web'].map((name) => join(root, name)).filter((path) => existsSync(path))
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  // The build scripts count as sources.
  for (const script of ['build.mjs', 'bundle.mjs']) files.push(join(root, 'scripts', script))
  return Math.max(0, ...files.map((file) => statSync(file).mtimeMs))
}
