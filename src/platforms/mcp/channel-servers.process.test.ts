// The pool against real servers: both SDK lines, both prefixes, calls, news, the environment of a child.
import { describe, expect, it } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { openPool, sdkServer } from './fixtures/pool-scene.ts'

const message = (prefix: string, content: string, meta: object = { chat_id: 'C1' }) => ({
  method: `notifications/${prefix}/channel`,
  params: { content, meta },
})

describe('channel servers', () => {
  it.each([
    ['before', 'claude'],
    ['before', 'nexo'],
    ['now', 'claude'],
    ['now', 'nexo'],
  ] as const)('of the line %s speak %s: news, tools, calls, notifications', async (line, prefix) => {
    const scene = await openPool([sdkServer('slack', line, prefix, 'permission')])
    const server = await scene.reached('slack', 'up')
    expect(server.facts()).toMatchObject({
      name: 'slack',
      transport: 'stdio',
      detail: null,
      restarts: 0,
      noise: 0,
      program: { name: `sdk-${line}`, version: '1.2.3' },
      prefix,
      permissionRelay: true,
      stamp: { source: null, verified: false },
    })
    expect(await server.tools()).toContain('send_message')
    const emitted = await server.call(
      'emit',
      { all: [message(prefix, 'one'), message(prefix, 'two')] },
      { timeoutMs: 20_000 },
    )
    expect(emitted).toMatchObject({ isError: false, text: 'emitted' })
    await until('both are there', () => scene.texts('slack').length === 2)
    expect(scene.news.slack?.[0]).toEqual({
      kind: 'message',
      prefix,
      params: { content: 'one', meta: { chat_id: 'C1' } },
    })
    expect(await server.call('send_message', { text: 'hi' }, { timeoutMs: 20_000 })).toMatchObject({
      text: 'sent (id: 1)',
      structured: { message_id: '1' },
    })
    await server.notify(`notifications/${prefix}/channel/permission_request`, { request_id: 'abcde' })
    const asked = async () => JSON.parse((await server.call('asked', {}, { timeoutMs: 20_000 })).text)
    await until('it was asked', async () => (await asked()).length === 1)
    expect(await asked()).toEqual([{ request_id: 'abcde' }])
  })
})
