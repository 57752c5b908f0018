// Callbacks of a real daemon as any HTTP client meets them: shapes, refusals, trouble that is told after a kill -9, slow
// agents beside quick ones. No credential is in anything printed.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { freePort } from '../../src/testing/free-port.ts'
import { writeChorusFront } from './chorus-front.ts'
import { postDemo } from './hook-client.ts'
import { expectLedgerHolds, sendsOf, settled, turnsOf } from './river-checks.ts'
import { askJson, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()

interface Given {
  readonly callback: string
  readonly mcp: { readonly headers: { readonly Authorization: string } }
  readonly message: { readonly id: string; readonly content: string }
}

/** An agent that answers 200 and leaves the rest to the test; `hold` keeps the answers to some texts back. */
async function openAgent(hold: (text: string) => boolean = () => false) {
  const given: Given[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const delivery = JSON.parse(text) as Given
    given.push(delivery)
    if (!hold(delivery.message.content)) response.end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/inbox/sk_planted4711`
  const delivery = (text: string) =>
    until(`"${text}" was delivered`, () => given.find((one) => one.message.content === text))
  return { url, given, delivery }
}

async function openPlace(agent: string) {
  const data = scene.folder()
  const config = writeChorusFront(data, agent)
  const port = await freePort()
  return { data, start: () => scene.start({ data, config, port }) }
}

const said = async (data: string) => (await sendsOf(data)).map((send) => send.text)
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), headers })

describe('callbacks', () => {
  it('[S8.ndjson] [S8.events-unknown] [S8.events-malformed] [S8.token-unknown] [S8.event-idempotent] [S8.urls-not-logged] take every shape, refuse by name, and print no credential', async () => {
    const agent = await openAgent()
    const { data, start } = await openPlace(agent.url)
    const daemon = await start()
    await postDemo(daemon.url, 'hello', 'k1')
    const { callback, mcp } = await agent.delivery('hello')
    const refused: readonly (readonly [unknown, number, string])[] = [
      ['{', 400, 'not JSON'],
      ['', 400, 'not JSON'],
      [{}, 400, 'type is required'],
      [{ type: 'message' }, 400, 'content is required'],
      [{ type: 'message', content: 7 }, 400, 'content must be a string'],
      [{ type: 'error' }, 400, 'message is required'],
      ['{"type":"message","content":"half"}\n{"type":"message"}', 400, 'event 2'],
      [{ type: 'message', content: 'x'.repeat(1_048_576) }, 413, '1048576'],
    ]
    for (const [body, status, named] of refused) {
      const answer = await post(callback, body)
      expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(named)])
    }
    expect((await post(`${callback}x`, { type: 'message', content: 'x' })).status).toBe(404)
    expect((await fetch(callback)).status).toBe(405)
    expect((await post(callback, { type: 'applause', how: 'loud' })).status).toBe(200)
    for (let again = 0; again < 2; again++) {
      const line = (n: number) => `{"type":"message","content":"line ${n}"}`
      expect((await post(callback, `${line(1)}\n${line(2)}\n`, { 'idempotency-key': 'a' })).status).toBe(200)
      expect((await post(callback, { type: 'message', content: 'three', event_id: 'b' })).status).toBe(200)
    }
    await settled(data)
    expect(await said(data)).toEqual(['line 1', 'line 2', 'three'])
    await expectLedgerHolds(data)
    const printed = [daemon.stderr()]
    for (const command of [
      ['turns'],
      ['outbox'],
      ['status'],
      ['doctor'],
      ['audit', 'export'],
      ['token', 'list', '--all'],
    ])
      printed.push(JSON.stringify(await switchboard(data, ...command, '--json')))
    const secrets = [
      'sk_planted4711',
      callback.split('/callback/')[1] ?? '?',
      mcp.headers.Authorization.slice(7),
    ]
    for (const secret of secrets) expect(printed.join('\n')).not.toContain(secret)
  })

  it('[I9.error-told] an error after the answer is told to the person, also when the daemon was killed in between', async () => {
    const agent = await openAgent()
    const { data, start } = await openPlace(agent.url)
    const first = await start()
    await postDemo(first.url, 'hello', 'k1')
    const { callback } = await agent.delivery('hello')
    await post(callback, { type: 'message', content: 'half an answer' })
    await settled(data)
    first.signal('SIGKILL')
    await first.exited
    await start()
    for (let again = 0; again < 2; again++)
      await post(callback, { type: 'error', message: `out of credit at ${agent.url}`, event_id: 'e1' })
    await settled(data)
    expect((await said(data)).slice(1)).toEqual(['⚠️ out of credit at [hidden]'])
    expect(await turnsOf(data)).toMatchObject([{ state: 'answered' }])
    await expectLedgerHolds(data)
  })

  it('[I9.slow-agent] a delivery that hangs delays no other conversation', async () => {
    const agent = await openAgent((text) => text === 'hang')
    const { data, start } = await openPlace(agent.url)
    const daemon = await start()
    await post(`${daemon.url}/hooks/demo`, 'hang', { 'x-sender': 'dev' })
    await agent.delivery('hang')
    await post(`${daemon.url}/hooks/demo`, 'quick', { 'x-sender': 'ann' })
    const { callback } = await agent.delivery('quick')
    await post(callback, { type: 'message', content: 'at once' })
    await until('the quick one is answered', async () => (await said(data)).includes('at once'))
    const status = await askJson<{ counts: Record<string, number> }>(data, 'status')
    expect(status.counts).toMatchObject({ handed: 1, answered: 1 })
  })
})
