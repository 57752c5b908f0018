// A viewer reads, but neither secrets nor what a tool call would do: in whatever route that could be found.

import { expect, it } from 'vitest'
import type { Desk, Principal } from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'
import { OPERATIONS } from '../../operations/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { fakeDesk } from '../fixtures/open-server.ts'
import { createApi } from './api.ts'

const SECRET = 'rm -rf /srv/payroll'
const approval = {
  id: 'abcde',
  seq: 1,
  tool_name: 'Bash',
  description: SECRET,
  input: SECRET,
  input_hash: 'h',
}
const event = { n: 1, at: '', kind: 'tool_call', call: 'c', name: 'Bash', text: SECRET }
const turn = { id: 't_x_1', text: 'deploy', events: [event] }
const prompt = { id: 'o_x_1', cause: 'prompt', text: SECRET }
const integration = { id: 'ci', platform: 'webhook', paste: [SECRET] }
const desk = {
  approvals: async () => [approval],
  turn: async () => turn,
  sends: async () => [prompt],
  send: async () => prompt,
  integrations: async () => [integration],
  thread: async () => ({
    items: [
      { kind: 'turn', ...turn, approvals: [approval] },
      { kind: 'send', ...prompt, by: null },
      { kind: 'takeover', id: 'h_1' },
    ],
    next: null,
  }),
} as unknown as Partial<Desk>

async function read(roles: readonly string[], path: string): Promise<string> {
  const api = createApi({ desk: fakeDesk(desk).desk, clock: createTestClock(), authorize }, OPERATIONS)
  const principal: Principal = { kind: 'user', id: 'eve', roles }
  const request = { method: 'GET', headers: {} } as never
  const segments = path.slice(1).split('/')
  const query = new URLSearchParams()
  const reply = await api({ request, segments, query, body: Buffer.from(''), principal, via: 'api' })
  expect(reply.status).toBe(200)
  return String(reply.body)
}

const ROUTES = [
  '/api/approvals',
  '/api/turns/t_x_1',
  '/api/outbox',
  '/api/outbox/o_x_1',
  '/api/integrations',
  '/api/conversations/ci:dev/thread',
]

it.each(ROUTES)('[I21.viewer] %s shows a viewer that there is something, and not what', async (path) => {
  const seen = await read(['viewer'], path)
  expect(seen).not.toContain(SECRET)
  if (path !== '/api/integrations') expect(seen).toContain('"masked":true')
  // Whoever may see it does, also one who is a viewer besides.
  expect(await read(['operator'], path)).toContain(SECRET)
  expect(await read(['viewer', 'operator'], path)).toContain(SECRET)
})

it('[I21.viewer] names of secrets and tokens are not read by a viewer', async () => {
  for (const path of ['/api/secrets', '/api/tokens'])
    await expect(read(['viewer'], path)).rejects.toMatchObject({ code: 'forbidden' })
})
