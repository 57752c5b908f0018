// The folder of the programs of the connector `claude-code`: relative to the configuration, in every spelling.
import { expect, it } from 'vitest'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { readConfig } from './config.ts'

const place = { environment: {}, records: '/data/processes', folder: '/data/agents/kate', base: '/etc/sb' }

it.each([
  ['./work', '/etc/sb/work'],
  ['work/', '/etc/sb/work'],
  ['../work', '/etc/work'],
  ['/srv/work/', '/srv/work'],
  [undefined, '/data/agents/kate/work'],
])('[I13.option-keys] cwd %s is %s', (cwd, folder) => {
  const deps = testConnectorDeps(
    { options: { command: 'x', ...(cwd === undefined ? {} : { cwd }) } },
    { processes: place, journal: {} as never, tokens: {} as never, publicBase: () => '' },
  )
  expect(readConfig(deps).cwd).toBe(folder)
})
