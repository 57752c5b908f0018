// `npm start`: builds dist/ if it is missing or older than the sources, then runs `switchboard up`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const built = join(root, 'dist/cli/main.js')

function newest(folder) {
  if (!existsSync(folder)) return 0
  return Math.max(
    0,
    ...readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs),
  )
}

if (
  !existsSync(built) ||
  statSync(built).mtimeMs < Math.max(newest(join(root, 'src')), newest(join(root, 'web')))
) {
  console.error('Building Switchboard (once, a few seconds) …')
  const done = spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: 'inherit' })
  if (done.status !== 0) process.exit(done.status ?? 1)
}

const daemon = spawn(process.execPath, [built, 'up', ...process.argv.slice(2)], { stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => daemon.kill(signal))
daemon.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))
