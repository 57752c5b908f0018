// A viewer reads, but sees neither secrets nor the content of tool calls, on any route.

import { expect, it } from 'vitest'
import type { ApprovalRow, Principal } from '../../contract/index.ts'
import { authorize } from '../../core/people/authorize.ts'
import { OPERATIONS, withContext } from '../../operations/index.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { testIntegration, testSettings } from '../../testing/test-settings.ts'
import { type Answers, fakeContext } from '../fixtures/fake-context.ts'
import { approvalRow, sendRow, turnRow } from '../fixtures/rows.ts'
import { createApi } from './api.ts'

const SECRET = 'rm -rf /srv/payroll'
const approval = approvalRow(1, {
  ask: { toolName: 'Bash', description: SECRET, input: SECRET } as ApprovalRow['ask'],
})
const event = { n: 1, at: 0, kind: 'tool_call', call: 'c', name: 'Bash', text: SECRET }
const turn = turnRow(1)
const prompt = sendRow(1, { cause: 'prompt', op: { kind: 'text', text: SECRET } })
const answers: Answers = {
  approvals: async () => [approval],
  turn: async () => turn,
  turnEvents: async () => [event],
  sends: async () => [prompt],
  send: async () => prompt,
  problems: () => new Map(),
  loadedPlatform: () => ({ setup: { paste: () => [SECRET] } }),
  baseUrl: () => 'http://here',
  thread: async () => ({
    rows: [
      { kind: 'turn', turn, events: [event], approvals: [approval] },
      { kind: 'send', send: prompt, by: null },
    ],
    next: null,
  }),
}
const settings = testSettings({ integrations: [testIntegration('ci', { platform: 'webhook' })] })

async function read(roles: readonly string[], path: string): Promise<string> {
  const { context } = fakeContext(answers, settings)
  const api = createApi({ clock: createTestClock(), authorize }, withContext(OPERATIONS, context))
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
  // A person with the right sees it, also one who is a viewer besides.
  expect(await read(['operator'], path)).toContain(SECRET)
  expect(await read(['viewer', 'operator'], path)).toContain(SECRET)
})

it('[I21.viewer] names of secrets and tokens are not read by a viewer', async () => {
  for (const path of ['/api/secrets', '/api/tokens'])
    await expect(read(['viewer'], path)).rejects.toMatchObject({ code: 'forbidden' })
})
