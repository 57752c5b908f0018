// Deleting an own message, and who sees how complete the integrations are.
import { readdirSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { createMemoryRiver, type MemoryRiver } from '../../../test/browser/memory-river.ts'
import { type HttpReply, isReply } from '../../contract/index.ts'
import { createTestClock, createTestRandom } from '../../testing/test-clock.ts'
import { SESSION_KIND } from './config.ts'

const HOST = '127.0.0.1:4747'
let river: MemoryRiver

beforeEach(async () => {
  river = await createMemoryRiver({ clock: createTestClock(), random: createTestRandom() })
})

async function ask(
  method: string,
  target: string,
  { token, body, raw }: { readonly token: string; readonly body?: object; readonly raw?: Uint8Array },
): Promise<HttpReply> {
  const url = new URL(target, `http://${HOST}`)
  const { endpoint } = river.platform
  if (endpoint === undefined) throw new Error('the web chat has an endpoint')
  const outcome = await endpoint.verify({
    ...{ method, path: url.pathname, query: url.searchParams, fromLoopback: true },
    headers: { host: HOST, 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: raw ?? Buffer.from(body === undefined ? '' : JSON.stringify(body)),
  })
  return isReply(outcome) ? outcome : endpoint.handle(outcome)
}

const json = (reply: HttpReply) => JSON.parse(String(reply.body)) as Record<string, unknown>

async function enter(sender = 'owner'): Promise<string> {
  const scope = { integration: 'web', sender }
  return (await river.tokens.mint({ kind: SESSION_KIND, scope, ttlMs: 60_000 })).token
}

describe('deleting', () => {
  const said = (token: string, clientId: string, more: object = {}) =>
    ask('POST', '/messages', { token, body: { clientId, text: 'my password is hunter2', ...more } })
  const deletes = (token: string, id: unknown) => ask('POST', '/delete', { token, body: { id } })

  it('[I15.delete-web] an own message that still waits is withdrawn, and its file goes with it; what the agent has stays', async () => {
    const token = await enter()
    const file = String(
      json(await ask('POST', '/upload?name=a.txt', { token, raw: Buffer.from('secret') })).id,
    )
    await said(token, 'message-1', { attachments: [file] })
    expect(json(await deletes(token, 'message-1'))).toMatchObject({ state: 'consumed', withdrawn: 1 })
    expect(river.received.at(-1)).toMatchObject({ kind: 'delete', conversation: 'owner' })
    expect(json(await ask('GET', '/history', { token })).entries).toEqual([])
    expect(readdirSync(river.deps.filesDir)).not.toContain(`${file}.taken`)
    await said(token, 'message-2')
    river.move('message-2', 'handed')
    expect(json(await deletes(token, 'message-2'))).toMatchObject({ state: 'consumed', withdrawn: 0 })
    expect((json(await ask('GET', '/history', { token })).entries as readonly unknown[]).length).toBe(1)
  })

  it('[I15.delete-web] nobody deletes in another chat, without a session, or by an id that is none', async () => {
    const owner = await enter()
    await said(owner, 'message-1')
    await deletes(await enter('mallory'), 'message-1')
    expect(river.received.at(-1)).toMatchObject({ conversation: 'mallory', sender: { id: 'mallory' } })
    expect((await deletes('guess', 'message-1')).status).toBe(401)
    for (const id of [undefined, 7, '', 'tap:message-1', 'x'.repeat(65)])
      expect([id, (await deletes(owner, id)).status]).toEqual([id, 400])
  })

  it('[I15.status] whoever may approve sees how far each integration is complete, and nobody else', async () => {
    const shown = json(await ask('GET', '/connections', { token: await enter() }))
    expect(shown.connections).toMatchObject([{ id: 'team', complete: { state: 'complete' } }, {}, {}])
    const other = await ask('GET', '/connections', { token: await enter('mallory') })
    expect([other.status, String(other.body)]).toEqual([403, expect.not.stringContaining('team')])
  })
})
