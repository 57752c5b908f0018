// What goes with an integration that is removed, and what stays.
import { expect, it } from 'vitest'
import type { IntegrationSettings, Settings } from '../../contract/index.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { removeOwnSecrets } from './own-secrets.ts'

function shelfOf(...names: string[]) {
  const kept = new Set(names)
  return {
    kept,
    names: () => [...kept].filter((name) => !name.startsWith('given.')),
    remove: async (name: string) => kept.delete(name),
    reserved: (prefix: string) => [...kept].filter((name) => name.startsWith(prefix)),
    refresh: async () => {},
    forget: async (gone: readonly string[]) => {
      for (const name of gone) kept.delete(name)
    },
  }
}
const gone = (options: Record<string, unknown>): IntegrationSettings => testIntegration('pager', { options })
const settings = (others: readonly IntegrationSettings[] = []): Settings =>
  testSettings({ integrations: [...others] })

it('[I14.secrets-gone] what was kept for it alone goes; what is used elsewhere, or named by an operator, stays', async () => {
  const secrets = shelfOf(
    'pager.token',
    'pager.shared',
    'OPS_KEY',
    'pager2.token',
    'given.pager.cb1',
    'given.p.cb',
  )
  const options = {
    token: 'secret:pager.token',
    shared: 'secret:pager.shared',
    deep: { list: ['secret:OPS_KEY', 'secret:pager.token', 'secret:nowhere', 'text secret:pager2.token'] },
  }
  const other = testIntegration('other', { options: { out: { secret: 'secret:pager.shared' } } })
  const told = await removeOwnSecrets(gone(options), { settings: settings([other]), secrets }, 'op')
  expect(told).toEqual({ removed: ['pager.token'], unused: ['OPS_KEY'] })
  expect([...secrets.kept].sort()).toEqual(['OPS_KEY', 'given.p.cb', 'pager.shared', 'pager2.token'])
})

it('[I14.secrets-gone] one without secrets takes nothing along', async () => {
  const secrets = shelfOf('pager.token')
  const told = await removeOwnSecrets(gone({ url: 'https://x' }), { settings: settings(), secrets }, 'op')
  expect([told, [...secrets.kept]]).toEqual([{ removed: [], unused: [] }, ['pager.token']])
})
