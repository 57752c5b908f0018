// The file in force as the console and `check --in-force` show it: options of modules that run, by their schemas.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { testSettings } from '../testing/test-settings.ts'
import { createConfigView } from './config-view.ts'

const FILE = `modules: [./pager.mjs]
integrations:
  - { id: duty, platform: pager, pager_site: here, badge: "planted" }
`
const PAGER = {
  options: {
    '~standard': {
      jsonSchema: {
        input: () => ({
          type: 'object',
          properties: { pager_site: { type: 'string' }, badge: { type: 'string', 'x-secret': true } },
        }),
      },
    },
  },
} as never

function viewOf(problem: string | null) {
  const folder = mkdtempSync(join(tmpdir(), 'swb-view-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'switchboard.yaml')
  writeFileSync(file, FILE)
  const pager = {
    from: './pager.mjs',
    file: '/pager.mjs',
    version: '1',
    platforms: ['pager'],
    connectors: [],
  }
  const other = { from: './other.mjs', file: null, version: null, platforms: [], connectors: [] }
  const modules = [
    { ...pager, problem: null },
    { ...other, problem },
  ]
  return createConfigView({
    config: { file, onReload: () => () => undefined } as never,
    settings: () => ({ ...testSettings({}), modules }),
    adapters: { loadedPlatform: () => PAGER, loadedConnector: () => undefined },
    folder,
    defaultStore: 'sqlite:x',
  })
}

it('[I13.modules-secrets] shows what a module that runs calls no secret, and masks what it calls one', async () => {
  const { lines } = await viewOf(null).config()
  expect(lines[2]).toBe('  - { id: duty, platform: pager, pager_site: here, badge: ••• }')
})

it('[I13.modules-secrets] masks all of them while a module failed: its secrets are not known', async () => {
  const { lines } = await viewOf('threw while it was loaded').config()
  expect(lines[2]).toBe('  - { id: duty, platform: pager, •••: •••, •••: ••• }')
})
