// The folder of the programs of the connector `acp`: relative to the configuration, in every spelling.
import { expect, it } from 'vitest'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { readConfig } from './config.ts'

const place = { environment: {}, records: '/data/processes', folder: '/data/agents/kate', base: '/etc/sb' }

it.each([
  ['./work', '/etc/sb/work'],
  ['work/', '/etc/sb/work'],
  ['../work', '/etc/work'],
  ['/srv/work/', '/srv/work'],
  [undefined, '/etc/sb'],
])('[I13.option-keys] cwd %s is %s', (cwd, folder) => {
  const deps = testConnectorDeps(
    { options: { command: 'x', ...(cwd === undefined ? {} : { cwd }) } },
    { processes: place },
  )
  expect(readConfig(deps).folder).toBe(folder)
})
