// The meaning of send_roots: the configured folders or the three default ones; and where a configuration's secrets are.
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { defaultSettings } from '../../config/default-settings.ts'
import type { Settings } from '../../contract/index.ts'
import { secretFiles, sendRoots } from './send-roots.ts'

const settings = (sendRoots: readonly string[] | null): Settings => {
  const plain = defaultSettings({ defaultStore: 'sqlite:/x/switchboard.db' })
  return { ...plain, tunables: { ...plain.tunables, sendRoots } }
}

it('[I14.send-roots] are by default the folder of the file, that of the host and the temporary one', () => {
  const place = { configFile: '/srv/desk/switchboard.yaml', hostFolder: '/srv/project' }
  expect(sendRoots(settings(null), place)).toEqual(['/srv/desk', '/srv/project', tmpdir()])
  expect(sendRoots(settings(null), { configFile: null, hostFolder: null })).toEqual([tmpdir()])
  // The root folder is no working folder.
  expect(sendRoots(settings(null), { configFile: '/switchboard.yaml', hostFolder: '/' })).toEqual([tmpdir()])
})

it('[I14.send-roots] are what was written and nothing else', () => {
  const place = { configFile: '/srv/desk/switchboard.yaml', hostFolder: '/srv/project' }
  expect(sendRoots(settings([]), place)).toEqual([])
  expect(sendRoots(settings(['out', '/var/reports', '~/Documents']), place)).toEqual([
    '/srv/desk/out',
    '/var/reports',
    join(homedir(), 'Documents'),
  ])
})

it('[I14.send-never] finds every file: reference, however deep', () => {
  const plain = settings(null)
  const [first] = plain.integrations
  const deep = { ...first, options: { token: 'file:bot.token', headers: { 'x-key': 'file:/run/key' } } }
  const given = { ...plain, store: 'file:store.url', integrations: [deep] } as Settings
  expect([...secretFiles(given, '/srv/desk')].sort()).toEqual([
    '/run/key',
    '/srv/desk/bot.token',
    '/srv/desk/store.url',
  ])
})
