// The answers of a hook and the chat while their integration is not running: retry later, never "there is none".
import { expect, it } from 'vitest'
import type { Endpoint } from '../contract/index.ts'
import { openServer } from '../server/fixtures/open-server.ts'
import { testIntegration, testSettings } from '../testing/test-settings.ts'
import { createEndpoints } from './endpoints.ts'
import type { Gateway } from './gateway.ts'

it('[I6.not-yet] a hook that is configured and not started yet is answered 503; an unknown or disabled one 404', async () => {
  const endpoint: Endpoint = {
    verify: () => ({ status: 200, body: 'ok' }),
    handle: async () => ({ status: 200 }),
  }
  const running: Record<string, { adapter: { endpoint?: Endpoint } }> = {
    running: { adapter: { endpoint } },
    deaf: { adapter: {} },
    'by-secret': { adapter: { endpoint: { ...endpoint, at: 'inbox' } } },
  }
  const gateway = { links: { get: (id: string) => running[id] } } as unknown as Gateway
  const integrations = [
    ...['running', 'deaf', 'by-secret', 'starting'].map((id) => testIntegration(id, { platform: 'webhook' })),
    testIntegration('disabled', { enabled: false }),
  ]
  const endpoints = createEndpoints({
    gateway: () => gateway,
    settings: () => testSettings({ integrations }),
  })
  const open = await openServer({ endpoints })
  const status = async (id: string) =>
    (await open.fetch(`/hooks/${id}`, { method: 'POST', body: 'x' })).status
  try {
    const ids = ['running', 'starting', 'deaf', 'by-secret', 'disabled', 'unknown']
    expect(await Promise.all(ids.map(status))).toEqual([200, 503, 404, 404, 404, 404])
  } finally {
    await open.server.close({ graceMs: 100 })
  }
})

it('[I6.not-yet] the chat of a web integration that is configured and not started yet is answered 503, without one 404', async () => {
  const gateway = { links: { all: () => [] } } as unknown as Gateway
  let integrations = [testIntegration('web', { platform: 'web' })]
  const endpoints = createEndpoints({
    gateway: () => gateway,
    settings: () => testSettings({ integrations }),
  })
  const open = await openServer({ endpoints })
  const statusAndWait = async () => {
    const reply = await open.fetch('/chat/messages', { method: 'POST', body: '{}' })
    return [reply.status, reply.headers.get('retry-after')]
  }
  try {
    expect(await statusAndWait()).toEqual([503, '1'])
    integrations = [testIntegration('web', { platform: 'web', enabled: false }), testIntegration('demo')]
    expect(await statusAndWait()).toEqual([404, null])
  } finally {
    await open.server.close({ graceMs: 100 })
  }
})
