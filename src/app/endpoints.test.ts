// What a hook answers while its integration is not running: come back later, never "there is no such hook".
import { expect, it } from 'vitest'
import type { Endpoint } from '../contract/index.ts'
import { openServer } from '../server/fixtures/open-server.ts'
import { testIntegration, testSettings } from '../testing/test-settings.ts'
import { createEndpoints } from './endpoints.ts'
import type { Gateway } from './gateway.ts'

it('[I6.not-yet] a hook that is configured and not started yet is answered 503, one that will never run 501; an unknown or disabled one 404', async () => {
  const endpoint: Endpoint = {
    verify: () => ({ status: 200, body: 'ok' }),
    handle: async () => ({ status: 200 }),
  }
  const running: Record<string, { adapter: { endpoint?: Endpoint } }> = {
    running: { adapter: { endpoint } },
    deaf: { adapter: {} },
  }
  const gateway = { links: { get: (id: string) => running[id] } } as unknown as Gateway
  const integrations = [
    ...['running', 'deaf', 'starting'].map((id) => testIntegration(id, { platform: 'webhook' })),
    testIntegration('disabled', { enabled: false }),
    testIntegration('later', { platform: 'slack' }),
  ]
  const endpoints = createEndpoints({
    gateway: () => gateway,
    settings: () => testSettings({ integrations }),
  })
  const open = await openServer({ endpoints })
  const status = async (id: string) =>
    (await open.fetch(`/hooks/${id}`, { method: 'POST', body: 'x' })).status
  try {
    const ids = ['running', 'starting', 'deaf', 'disabled', 'unknown', 'later']
    expect(await Promise.all(ids.map(status))).toEqual([200, 503, 404, 404, 404, 501])
  } finally {
    await open.server.close({ graceMs: 100 })
  }
})
