// Whether the people who can answer are authenticated: one open integration makes the result false.
import { expect, it } from 'vitest'
import type { IntegrationSettings } from '../../contract/index.ts'
import { OPEN, testAgent, testIntegration, testSettings } from '../../testing/test-settings.ts'
import { sendersAuthenticated } from './authenticated.ts'

const LISTED = { ...OPEN, dm: 'allowlist', allowFrom: ['kate'], groups: {} } as const
const asked = (...integrations: readonly IntegrationSettings[]) =>
  sendersAuthenticated(testSettings({ integrations }), 'demo')
const one = (over: Partial<IntegrationSettings> = {}) => testIntegration('chat', { access: LISTED, ...over })

it('[S6.ch-permission-cap] only where every bound integration knows its senders', () => {
  expect(asked(one())).toBe(true)
  expect(asked(one({ access: { ...LISTED, allowFrom: ['kate', '*'] } }))).toBe(false)
  expect(asked(one({ access: { readable: false, problem: 'not read' } }))).toBe(false)
  const group = { ...LISTED, groups: { room: { allowFrom: ['*'] } } } as never
  expect(asked(one({ access: group }))).toBe(false)
  expect(asked(one({ unproven: true }))).toBe(false)
  expect(asked(one({ options: { require_auth_results: false } }))).toBe(true)
  expect(asked(one(), { ...one({ access: { ...LISTED, allowFrom: ['*'] } }), id: 'other' })).toBe(false)
})

it('[S6.ch-permission-cap] nobody to ask is nobody known: none bound, or none enabled', () => {
  expect(asked()).toBe(false)
  expect(asked(one({ enabled: false }))).toBe(false)
  const settings = testSettings({ integrations: [one()], agents: [testAgent('demo', ['elsewhere'])] })
  expect(sendersAuthenticated(settings, 'demo')).toBe(false)
  expect(sendersAuthenticated(settings, 'stranger')).toBe(false)
})
