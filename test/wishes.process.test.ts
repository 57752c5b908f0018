// Follows the pages of docs/wishes/ by typing what they say and nothing else, from an empty folder; the port is another one.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { freePort } from '../src/testing/free-port.ts'
import { until } from './faults/until.ts'
import { snippetsOf } from './page-snippets.ts'

const MAIN = join(import.meta.dirname, '../dist/cli/main.js')
let home = ''
let folder = ''
let port = 0
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'swb-wish-'))
  folder = join(home, 'empty')
  mkdirSync(folder)
  mkdirSync(join(home, 'bin'))
  writeFileSync(join(home, 'bin/switchboard'), `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`)
  chmodSync(join(home, 'bin/switchboard'), 0o755)
  port = await freePort()
})
afterEach(async () => {
  await type('switchboard stop').catch(() => undefined)
  rmSync(home, { recursive: true, force: true })
})

/** What a shell prints for it. Throws where a line fails. */
function type(text: string): Promise<string> {
  const env = { HOME: home, PATH: `${join(home, 'bin')}:${process.env.PATH ?? ''}`, LANG: 'C.UTF-8' }
  const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', text.replaceAll('4747', String(port))], {
    ...{ cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] },
  })
  let said = ''
  for (const stream of [shell.stdout, shell.stderr]) stream?.on('data', (chunk) => (said += String(chunk)))
  return new Promise((resolve, reject) => {
    shell.once('error', reject)
    shell.once('exit', (code) => (code === 0 ? resolve(said) : reject(new Error(`exit ${code}: ${said}`))))
  })
}

const typed = (page: string) =>
  snippetsOf(`docs/wishes/${page}.md`)
    .filter(({ language }) => language === 'sh')
    .map(({ text }) => text)

it('[I18.wish-ci] an alert of CI is stored, read by the agent and told to the person', async () => {
  const [prepare = '', alert = '', look = ''] = typed('alerts-from-ci')
  expect(await type(prepare)).toContain('/chat#ticket=')
  expect(JSON.parse(await type(alert))).toMatchObject({ ok: true, state: 'queued' })
  await until('the person is told', async () => /sent/.test(await type('switchboard outbox --json')))
  const told = await type(look)
  expect(told).toContain('alerts')
  expect(told).toContain('answered')
  expect(await type('switchboard outbox --json')).toContain('build 412 of main failed')
})

it('[I18.wish-cron] what a cron says arrives, confirmed', async () => {
  const [prepare = '', say = ''] = typed('a-cron-that-tells-me')
  expect(await type(prepare)).toContain('/chat#ticket=')
  expect(await type(say)).toMatch(/sent/)
  expect(await type('switchboard outbox --json')).toContain('The backup is done.')
})
