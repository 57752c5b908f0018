// Which integration a named platform leads to: a native one if the agent has one, else the hosted server of that name.
import { expect, it } from 'vitest'
import { testAgent, testIntegration, testSettings } from '../../testing/test-settings.ts'
import { chooseIntegration } from './targets.ts'

const NATIVE = testIntegration('work', { platform: 'slack' })
const HOSTED = testIntegration('channel:slack@demo', { platform: 'mcp', source: 'channel:slack' })

const chosen = (native: Partial<typeof NATIVE>, bound: readonly string[], own: string | null = null) =>
  chooseIntegration(
    testSettings({
      integrations: [{ ...NATIVE, ...native }, HOSTED],
      agents: [testAgent('demo', [...bound, HOSTED.id])],
    }),
    { platform: 'slack', agent: 'demo', named: undefined, own },
  ).id

it('[I14.server-by-name] a native integration of that name, enabled and granted, goes before the hosted server', () => {
  expect(chosen({}, ['work'])).toBe('work')
  // The same holds for work that came from the hosted one.
  expect(chosen({}, ['work'], HOSTED.id)).toBe('work')
  expect(chosen({ enabled: false }, ['work'])).toBe(HOSTED.id)
  expect(chosen({}, [])).toBe(HOSTED.id)
})
