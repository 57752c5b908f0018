// Builds dist/ from src/ (the code by vite, the types by tsc) and from web/ (by vite, if it exists).
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

function run(bin, args) {
  const done = spawnSync(process.execPath, [bin, ...args], { cwd: root, stdio: 'inherit' })
  if (done.status !== 0) process.exit(done.status ?? 1)
}

rmSync(`${root}dist`, { recursive: true, force: true })
run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json'])
if (existsSync(`${root}web/vite.config.ts`)) {
  run('node_modules/vite/bin/vite.js', ['build', '--config', 'web/vite.config.ts', '--logLevel', 'warn'])
}
await bundle()
chmodSync(`${root}dist/cli/main.js`, 0o755)
