// The commands of this repository say what they take, and run nothing meanwhile.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

it.each([
  ['scripts/test.mjs', '--changed=COMMIT'],
  ['scripts/matrix.mjs', 'VERSION'],
  ['scripts/mutate/run.ts', '--minutes N'],
])('[I13.script-help] %s --help', (script, told) => {
  const loader = script.endsWith('.ts') ? ['--import', 'tsx'] : []
  const ran = spawnSync(process.execPath, [...loader, script, '--help'], { cwd: ROOT, encoding: 'utf8' })
  expect(ran).toMatchObject({ status: 0, stderr: '' })
  expect(ran.stdout).toContain(told)
})

it('[I13.script-help] mutate refuses a word that it does not know, with its help', () => {
  const args = ['--import', 'tsx', 'scripts/mutate/run.ts', '--minuets', '3']
  const ran = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })
  expect(ran.status).toBe(2)
  expect(ran.stderr).toContain("Unknown option '--minuets'")
  expect(ran.stderr).toContain('--minutes N')
})
