// The parts of a large configuration.
import { describe, expect, it } from 'vitest'
import type { Clock } from '../contract/index.ts'
import { testSettings } from '../testing/test-settings.ts'
import { desiredParts } from './desired.ts'
import type { GatewayDeps } from './gateway.ts'
import type { Pipeline } from './start-integrations.ts'

describe('the parts that a configuration wants', () => {
  it('[I23.reload-slices] many are gathered in slices, out of one configuration', async () => {
    let pauses = 0
    const clock: Clock = {
      now: () => 0,
      after(_ms, run) {
        pauses += 1
        now = { ...many, agents: [] }
        setImmediate(run)
        return () => undefined
      },
    }
    const [agent] = testSettings().agents
    if (!agent) throw new Error('no agent')
    const many = {
      ...testSettings(),
      agents: Array.from({ length: 450 }, (_, at) => ({ ...agent, id: `a${at}` })),
    }
    let now = many
    const deps = { clock, settings: () => now, secret: () => '' } as unknown as GatewayDeps
    const river = { links: { get: () => undefined } } as unknown as Pipeline
    // Another change happens between two slices. It is applied after this one.
    const wanted = await desiredParts(deps, river)
    expect(pauses).toBe(2)
    expect([...wanted.keys()].filter((key) => key.startsWith('agent:'))).toHaveLength(450)
  })
})
