// `check` and references that lead nowhere: each kind, by the key where it stands.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const folder = freshFolder()

it('[I18.check-unset] reports variables, files and secrets that are not there, and none that is', async () => {
  const file = join(folder.path(), 'switchboard.yaml')
  writeFileSync(join(folder.path(), 'there.secret'), 'x', { mode: 0o600 })
  writeFileSync(
    file,
    `integrations:
  - { id: tg, platform: telegram, token: "env:TG" }
  - { id: set, platform: telegram, token: "env:SET" }
  - { id: a, platform: webhook, secret: "file:./gone.secret" }
  - { id: b, platform: webhook, secret: "file:./there.secret" }
  - { id: c, platform: webhook, secret: "secret:NONE" }
  - { id: d, platform: webhook, secret: "secret:KEPT" }
agents:
  - { id: demo, connector: { type: demo }, schedules: [{ id: s, cron: "0 9 * * *", prompt: "env:TEXT" }] }
`,
  )
  await folder.start({ 'GET /api/secrets': { items: [{ name: 'KEPT' }], next: null } })
  const terminal = () =>
    rememberingTerminal({ cwd: () => folder.path(), env: { SET: 'x', HOME: folder.path() } })
  const told = await command(['check', '--json', ...folder.data()], terminal())
  expect(told.code).toBe(0)
  const { warnings } = told.lines[0] as { warnings: string[] }
  const unset = warnings
    .filter((one) => /^(integrations|agents)\./.test(one))
    .map((one) => one.split(/ is | ;/)[0])
  expect(unset).toEqual([
    'integrations.tg.token: env:TG',
    'integrations.a.secret: file:./gone.secret',
    'integrations.c.secret: secret:NONE',
  ])
  expect(warnings.join('\n')).toContain('switchboard secrets set NONE')
})
