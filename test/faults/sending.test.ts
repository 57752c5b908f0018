// Sending from a real daemon: the web chat and a signed webhook sink as targets, over real sockets and under fault
// plans; integrations, notifications and allowlists changed by command and by file while it runs.
import { createHmac } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds } from './river-checks.ts'
import { askJson, askLines, createScene, type Scene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const SECRET = 'the-secret-of-the-sink'

/** What the sink does with one request. `accept-reset`: it took the message, and the answer never came. */
type Plan = 'ok' | 'busy' | 'broken' | 'accept-reset' | 'accept-silence'

interface Sunk {
  readonly message: string
  readonly urgency: string
  readonly id: string
}

async function openSink(on: Scene) {
  const plans: Plan[] = []
  const taken: Sunk[] = []
  let forged = 0
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const good = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
      if (request.headers['x-signature-256'] !== good) forged += 1
      const plan = plans.shift() ?? 'ok'
      if (plan === 'busy') return response.writeHead(429, { 'retry-after': '1' }).end()
      if (plan === 'broken') return response.writeHead(500).end()
      taken.push(JSON.parse(body.toString()) as Sunk)
      if (plan === 'accept-reset') return request.socket.destroy()
      if (plan === 'accept-silence') return void held.push(response)
      return response.writeHead(200).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  on.onEnd(() => {
    for (const response of held) response.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/in`, plans, taken, forged: () => forged }
}

async function opened() {
  const sink = await openSink(scene)
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'sink.secret'), SECRET, { mode: 0o600 })
  writeFileSync(join(data, 'messaging.json'), JSON.stringify({ demo: ['webhook:alerts'] }))
  writeFileSync(
    config,
    `integrations:
  - { id: web, platform: web, default: true }
  - { id: sink, platform: webhook, scope: all, secret: "file:sink.secret", signature: plain,
      out: { url: "${sink.url}", secret: "file:sink.secret", allow_private: true } }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: web, instance: web }, { plugin: webhook, instance: sink }]
    messaging: { file: messaging.json }
tunables: { tool_wait: 30s, send_retry_base: 100ms }
`,
  )
  const daemon = await scene.start({ data, config })
  return { sink, data, config, daemon }
}

async function mcpClient(daemon: Daemon) {
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', '--agent', 'demo')
  const client = new Client({ name: 'test', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit: { headers } }),
  )
  scene.onEnd(() => client.close())
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 60_000 })
    const [first] = result.content as { text: string }[]
    return { text: first?.text ?? '', isError: result.isError === true, structured: result.structuredContent }
  }
  return {
    call,
    send: (body: string) => call('send_message', { platform: 'webhook', target: 'alerts', body }),
  }
}

interface Shown {
  readonly id: string
  readonly dir: string
  readonly kind: string
  readonly text: string
  readonly urgency?: string
  readonly choices?: readonly { readonly label: string; readonly value: string }[]
}

/** The owner's browser: the link that the command prints, the cookie behind it. */
async function openChat(daemon: Daemon) {
  const { url } = await askJson<{ url: string }>(daemon.data, 'link')
  const json = { 'content-type': 'application/json', origin: daemon.url }
  const ticket = new URL(url).hash.replace('#ticket=', '')
  const entered = await post(`${daemon.url}/chat/session`, JSON.stringify({ ticket }), json)
  const headers = { ...json, cookie: entered.headers.get('set-cookie')?.split(';')[0] ?? '' }
  let clients = 0
  const act = (path: string, body: Record<string, unknown>) =>
    post(`${daemon.url}/chat${path}`, JSON.stringify({ clientId: `client-${clients++}-x`, ...body }), headers)
  return {
    says: (text: string, replyTo?: string) => act('/messages', { text, ...(replyTo ? { replyTo } : {}) }),
    tap: (on: string, value: string) => act('/tap', { on, value }),
    async shown(): Promise<readonly Shown[]> {
      const response = await fetch(`${daemon.url}/chat/history?limit=50`, { headers })
      return ((await response.json()) as { entries: readonly Shown[] }).entries
    },
  }
}

const NOTE = '(may be a duplicate'

describe('sending from a real daemon', () => {
  it('[I4.sink-faults] a signed sink under 429, 500, a reset and silence after it accepted: the truth each time', async () => {
    const { sink, data, daemon } = await opened()
    const { send } = await mcpClient(daemon)
    expect(await send('plain')).toMatchObject({ text: 'Message sent to webhook:alerts', isError: false })
    expect((await send('plain')).structured).toMatchObject({ status: 'deduplicated', ok: true })
    sink.plans.push('busy', 'broken')
    expect((await send('later')).text).toBe('Message sent to webhook:alerts')
    sink.plans.push('accept-reset')
    expect((await send('reset')).text).toBe('Message sent to webhook:alerts')
    sink.plans.push('accept-silence')
    expect((await send('silence')).structured).toMatchObject({ ok: true })
    const states = async () =>
      (await askLines<{ state: string }>(data, 'outbox')).map(({ state }) => state).sort()
    await until('all of them', async () => (await states()).filter((state) => state === 'sent').length === 4)
    const seen = sink.taken.map(({ message }) => message)
    expect(seen.filter((text) => !text.startsWith(NOTE))).toEqual(['plain', 'reset', 'silence'])
    // After a 500, too, nobody knows.
    expect(seen.filter((text) => text.startsWith(NOTE))).toHaveLength(3)
    expect(sink.forged()).toBe(0)
    expect(await states()).toEqual(['deduplicated', 'sent', 'sent', 'sent', 'sent'])
    await expectLedgerHolds(data)
  })

  it('[S11.notify-urgency] [F7.notify-urgency] [S14.cli-notify] urgency shows on the webhook and in the web chat', async () => {
    const { sink, data, daemon } = await opened()
    const told = await switchboard(
      data,
      'notify',
      '--channel',
      'webhook',
      '--urgency',
      'high',
      'disk',
      'full',
    )
    expect([told.code, told.stdout.trim()]).toEqual([0, 'Notification sent via webhook'])
    expect(sink.taken).toMatchObject([{ message: 'disk full', urgency: 'high' }])
    expect((await switchboard(data, 'notify', '--urgency', 'high', 'look here')).code).toBe(0)
    const chat = await openChat(daemon)
    expect(await chat.shown()).toMatchObject([{ dir: 'out', text: 'look here', urgency: 'high' }])
    const missing = await switchboard(data, 'notify', '--channel', 'email', 'hello')
    expect([missing.code, missing.stderr]).toEqual([1, 'error: No email integration is configured\n'])
    expect((await switchboard(data, 'notify', '--urgency', 'huge', 'x')).code).toBe(2)
  })

  it('[S11.claim-buttons] [S11.claim-tap] [S11.claim-newest] a claim in the web chat: tapped, left, and taken untapped', async () => {
    const { data, daemon } = await opened()
    // A job's own session: it speaks first.
    await post(`${daemon.url}/hooks/sink`, 'job started', {
      'x-webhook-secret': SECRET,
      'x-conversation': 'job',
    })
    const job = await until('the job', async () =>
      (await askLines<{ text: string; session: string; state: string }>(data, 'turns')).find(
        ({ text, state }) => text === 'job started' && state === 'answered',
      ),
    )
    const of = ['--agent', 'demo', '--session', job.session, '--kind', 'notify']
    const { token } = await askJson<{ token: string }>(data, 'token', 'mint', ...of)
    const nudge = async (message: string) => {
      const args = { message, claim_thread: true, claim_thread_label: 'job' }
      const params = { name: 'notify_user', arguments: args }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const { text } = await post(`${daemon.url}/mcp/notify`, JSON.stringify(call), headers)
      expect(text).toContain('Notification sent via web:web')
    }
    const sessionOf = (words: string) =>
      until(words, async () => {
        const turns = await askLines<{ text: string; session: string }>(data, 'turns')
        return turns.find(({ text }) => text?.endsWith(words))
      })
    const chat = await openChat(daemon)
    await nudge('Deploy?')
    const [question] = await chat.shown()
    expect(question?.choices?.map(({ label }) => label)).toEqual(['📎 Reply here', '💬 Keep my chat'])
    await chat.tap(question?.id ?? '', question?.choices?.[0]?.value ?? '')
    await until('the edit', async () =>
      (await chat.shown()).some(
        ({ kind, text }) => kind === 'edit' && text.endsWith('✓ Threaded — reply when ready.'),
      ),
    )
    await chat.says('go on')
    expect((await sessionOf('go on')).session).toBe(job.session)
    await chat.says('/back')
    await chat.says('my own')
    expect((await sessionOf('my own')).session).not.toBe(job.session)
    await nudge('Sure?')
    await chat.says('untapped')
    const taken = await sessionOf('untapped')
    expect(taken).toMatchObject({ session: job.session, text: '[Switched to job thread]\n\nuntapped' })
    await expectLedgerHolds(data)
  })

  it('[F7.send-bad-json] [S3.messaging-file-bad] [S3.messaging-file-missing] the allowlist file is followed while it runs, and a broken one denies', async () => {
    const { data, daemon } = await opened()
    const { send } = await mcpClient(daemon)
    const denied = /is not in the personality's allowed messaging targets. Allowed: /
    writeFileSync(join(data, 'messaging.json'), JSON.stringify({ demo: ['webhook:other'], eve: ['*'] }))
    await switchboard(data, 'reload')
    expect((await send('one')).text).toMatch(/Allowed: webhook:other$/)
    for (const broken of ['{ not json', '["webhook:alerts"]', '{"demo": "webhook:alerts"}']) {
      writeFileSync(join(data, 'messaging.json'), broken)
      await switchboard(data, 'reload')
      expect((await send('two')).text, broken).toMatch(/Allowed: none$/)
      expect((await switchboard(data, 'status')).stdout).toContain('messaging')
    }
    rmSync(join(data, 'messaging.json'))
    await switchboard(data, 'reload')
    expect((await send('two')).text).toMatch(/Allowed: none$/)
    writeFileSync(join(data, 'messaging.json'), JSON.stringify({ demo: ['webhook:*'] }))
    await switchboard(data, 'reload')
    expect((await send('three')).text).toBe('Message sent to webhook:alerts')
    expect((await send('x')).text).not.toMatch(denied)
  })

  it('[S14.cli-integrations] [I4.stored-integrations] [S12.integration-creds] integrations are kept encrypted, started, granted, disabled and forgotten by command', async () => {
    const { sink, data, config, daemon } = await opened()
    const added = ['integrations', 'add', 'pager', '--platform', 'webhook', '--scope', 'demo']
    const keys = [
      '--set',
      'secret=file:sink.secret',
      '--set',
      'signature=plain',
      '--set',
      `out.url=${sink.url}?planted-in-a-url`,
    ]
    const out = ['--set', 'out.secret=file:sink.secret', '--set', 'out.allow_private=true']
    expect(await askJson(data, ...added, ...keys, ...out)).toMatchObject({
      id: 'pager',
      origin: 'store',
      link: 'up',
    })
    expect((await switchboard(data, 'notify', '--channel', 'webhook:pager', 'one')).code).toBe(0)
    expect(sink.taken.map(({ message }) => message)).toEqual(['one'])
    const listed = await askLines<{ id: string; origin: string }>(data, 'integrations', 'list')
    expect(listed.map(({ id, origin }) => [id, origin])).toEqual([
      ['web', 'integrations[0]'],
      ['sink', 'integrations[1]'],
      ['pager', 'store'],
    ])
    expect(readFileSync(join(data, 'switchboard.db'), 'latin1')).not.toContain('planted-in-a-url')
    expect((await switchboard(data, 'secrets', 'list')).stdout).not.toContain('pager')

    const clash = await switchboard(data, 'integrations', 'add', 'sink', '--platform', 'web')
    expect([clash.code, clash.stderr]).toEqual([
      1,
      expect.stringContaining('is defined in the configuration file'),
    ])
    const wrong = await switchboard(
      data,
      'integrations',
      'add',
      'tg',
      '--platform',
      'telegram',
      '--set',
      'token=123:plain',
    )
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('token')])
    expect(wrong.stderr).not.toContain('123:plain')

    expect((await switchboard(data, 'integrations', 'disable', 'pager')).code).toBe(0)
    const off = await switchboard(data, 'notify', '--channel', 'webhook:pager', 'two')
    expect(off.stderr).toContain('Integration "pager" is disabled')
    expect((await switchboard(data, 'secrets', 'rotate')).code).toBe(0)
    await daemon.kill9()
    const again = await scene.start({ data, config })
    expect((await switchboard(data, 'integrations', 'enable', 'pager')).code).toBe(0)
    const { token } = await askJson<{ token: string }>(
      data,
      'token',
      'mint',
      '--kind',
      'notify',
      '--agent',
      'demo',
    )
    const notify = async (message: string) => {
      const params = { name: 'notify_user', arguments: { message, channel: 'webhook:pager' } }
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return (await post(`${again.url}/mcp/notify`, JSON.stringify(call), headers)).text
    }
    expect(await notify('three')).toContain('Notification sent via webhook:pager')
    expect((await switchboard(data, 'integrations', 'grant', 'pager', 'nobody')).code).toBe(1)
    expect((await switchboard(data, 'integrations', 'remove', 'pager')).code).toBe(0)
    expect(await notify('four')).toContain('Integration \\"pager\\" not found')
    expect(sink.taken.map(({ message }) => message)).toEqual(['one', 'three'])
    await until('the log', async () => (await switchboard(data, 'audit', 'verify')).code === 0)
  })
})
