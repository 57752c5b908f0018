// Agents that ask people, and whose questions reach no approver: by integration, way and grant.
import { expect, it } from 'vitest'
import type { PlatformAdapter, Settings } from '../contract/index.ts'
import type { Link } from '../core/links.ts'
import { OPEN, testAgent, testIntegration, testSettings } from '../testing/test-settings.ts'
import { silentApprovals } from './silent-approvals.ts'

const listed = (id: string, over: object = {}) =>
  testIntegration(id, { access: { ...OPEN, dm: 'allowlist', allowFrom: ['7'], approvers: [], ...over } })
const KATE = testAgent('kate', ['tg'])

function silent(
  settings: Settings,
  { granted = '', oneWay = false, relays = false, asks = true } = {},
): readonly string[] {
  const adapter = {
    abilities: { oneWay },
    channel: { relaysApprovals: () => relays },
  } as unknown as PlatformAdapter
  const found = silentApprovals({
    settings,
    grants: { has: () => false, senders: (_at, right) => (right === granted ? ['9'] : []) },
    links: { get: () => ({ adapter }) as Link },
    asks: () => asks,
  })
  return found.map(({ agent, key }) => `${agent} ${key}`)
}

it('[I35.b23] who may talk and nobody who may approve is a problem, named with its key', () => {
  const settings = testSettings({ integrations: [listed('tg')], agents: [KATE] })
  expect(silent(settings)).toEqual(['kate integrations[0].access.approvers'])
  expect(silent(settings, { asks: false })).toEqual([])
  for (const granted of ['approve', 'user:local']) expect(silent(settings, { granted })).toEqual([])
  expect(silent(settings, { granted: 'talk' })).toHaveLength(1)
  expect(silent(settings, { relays: true })).toEqual([])
})

it('[I35.b23] one approver on one of its integrations is enough, unless nothing can be said there', () => {
  const named = listed('other', { approvers: ['7'] })
  const agent = testAgent('kate', ['tg', 'other'])
  const both = testSettings({ integrations: [listed('tg'), named], agents: [agent] })
  expect(silent(both)).toEqual([])
  expect(silent(both, { oneWay: true })).toHaveLength(1)
  expect(silent(testSettings({ integrations: [listed('tg'), named], agents: [KATE] }))).toHaveLength(1)
  const off = { ...named, enabled: false }
  expect(silent(testSettings({ integrations: [listed('tg'), off], agents: [agent] }))).toHaveLength(1)
  const group = { requireMention: true, allowFrom: [], approvals: true }
  const opened = listed('tg', { groups: { '-1': group } })
  expect(silent(testSettings({ integrations: [opened], agents: [KATE] }))).toEqual([])
  const users = [{ id: 'ann', identities: ['tg:7'], notifyTo: null, roles: ['approver' as const] }]
  expect(silent(testSettings({ integrations: [listed('tg')], agents: [KATE], users }))).toEqual([])
})
