// The pages of send_message and of the notify server, row by row, against a real daemon with five platforms: their schemas,
// examples, errors and texts as they stand there, over MCP clients that know nothing else.
import { createHmac } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { DatabaseSync } from '@photostructure/sqlite'
import { describe, expect, it } from 'vitest'
import {
  createFakeDiscord,
  createFakeMail,
  createFakeSlack,
  createFakeTelegram,
  FAKE_KATE_ADDRESS,
} from '../../src/testing/emulate.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const TG = 'int_gXuDla4UZipcm2tg3McPX'
const ALLOWLIST = { engineer: ['slack:C0123ABC', 'telegram:-100123'], researcher: ['*'] }

async function openSink() {
  const taken: { message: string; urgency: string; signed: boolean }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const good = `sha256=${createHmac('sha256', 'sink-secret').update(body).digest('hex')}`
    taken.push({ ...JSON.parse(body), signed: request.headers['x-signature-256'] === good })
    response.end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  scene.onEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return { taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` }
}

async function open() {
  const [telegram, slack, discord, mail, sink] = await Promise.all([
    createFakeTelegram(),
    createFakeSlack(),
    createFakeDiscord(),
    createFakeMail(),
    openSink(),
  ])
  for (const fake of [telegram, slack, discord, mail]) scene.onEnd(() => fake.stop())
  slack.world.addChannel({ id: 'C0123ABC' })
  telegram.world.addChat({ id: -100123, type: 'supergroup', title: 'Ops' })
  telegram.world.addChat({ id: -100777, type: 'channel', title: 'News', username: 'channelname' })
  slack.world.addChannel({ id: 'C0NOTIN' }, [])
  const data = scene.folder()
  const secret = (name: string, value: string) => {
    writeFileSync(join(data, name), value, { mode: 0o600 })
    return `"file:${name}"`
  }
  const people = {
    telegram: telegram.person(),
    slack: slack.person(),
    discord: discord.person(),
    mail: mail.person(FAKE_KATE_ADDRESS),
  }
  const of = (id: string | number) => `access: { dm: allowlist, allow_from: ["${id}"], approvers: ["${id}"] }`
  const server = (port: number) =>
    `{ host: 127.0.0.1, port: ${port}, tls: false, password: ${secret('mail', mail.password)} }`
  const out = `secret: ${secret('in', 'in-secret')}, signature: plain, out: { url: "${sink.url}", secret: ${secret('sink', 'sink-secret')}, allow_private: true }`
  writeFileSync(join(data, 'messaging.json'), JSON.stringify(ALLOWLIST))
  const config = join(data, 'switchboard.yaml')
  writeFileSync(
    config,
    `integrations:
  - { id: ${TG}, platform: telegram, scope: all, default: true, token: ${secret('tg', telegram.token)}, api_root: "${telegram.url}", mode: polling, ${of(people.telegram.user.id)} }
  - { id: sl, platform: slack, scope: all, bot_token: ${secret('xoxb', slack.botToken)}, app_token: ${secret('xapp', slack.appToken)}, api_url: "${slack.apiUrl}", ${of(people.slack.user.id)} }
  - { id: dc, platform: discord, scope: all, token: ${secret('dc', discord.token)}, api_url: "${discord.apiUrl}", ${of(people.discord.user.id)} }
  - { id: mail, platform: email, scope: all, address: ${mail.bot}, imap: ${server(mail.imapPort)}, smtp: ${server(mail.smtpPort)},
      authserv_id: ${mail.authservId}, poll_interval: 1s, access: { allow_from: ["${FAKE_KATE_ADDRESS}"] } }
  - { id: sink, platform: webhook, scope: all, ${out} }
  - { id: foreign, platform: webhook, scope: { agents: [researcher] }, ${out} }
  - { id: jobs, platform: webhook, two_way: true, secret: "file:in", signature: plain }
agents:
  - { id: engineer, connector: { type: demo }, messaging: { file: messaging.json },
      inbound_bindings: [{ plugin: telegram, instance: ${TG} }, { plugin: webhook, instance: jobs }] }
  - { id: researcher, connector: { type: demo }, messaging: { file: messaging.json }, inbound_bindings: [{ plugin: slack, instance: sl }, { plugin: email, instance: mail }] }
  - { id: outsider, connector: { type: demo }, messaging: { file: messaging.json }, inbound_bindings: [{ plugin: discord, instance: dc }] }
`,
  )
  const start = () => scene.start({ data, config })
  return { data, config, telegram, slack, discord, mail, sink, people, start }
}

async function client(daemon: Daemon, path: string, ...of: string[]) {
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', ...of)
  const mcp = new Client({ name: 'seed', version: '1' })
  const headers = { authorization: `Bearer ${token}` }
  await mcp.connect(
    new StreamableHTTPClientTransport(new URL(`${daemon.url}${path}`), { requestInit: { headers } }),
  )
  scene.onEnd(() => mcp.close())
  return {
    token,
    mcp,
    async call(name: string, args: Record<string, unknown>) {
      const result = await mcp.callTool({ name, arguments: args }, undefined, { timeout: 60_000 })
      const [first] = result.content as { text: string }[]
      return {
        text: first?.text ?? '',
        isError: result.isError === true,
        structured: (result.structuredContent ?? {}) as Record<string, unknown>,
      }
    },
  }
}

describe('[I35.b46-seeds] the page of send_message', () => {
  it('its schema, examples, targets, allowlist, errors and the 30 seconds', async () => {
    const { data, start, telegram, slack, discord, mail, people } = await open()
    const off = await switchboard(data, 'send', 'slack:C0123ABC', 'hi')
    expect(off.code).not.toBe(0)
    expect(off.stderr).toContain('Gateway not active — send_message requires gateway mode')
    const daemon = await start()
    const engineer = await client(daemon, '/mcp', '--agent', 'engineer')
    const researcher = await client(daemon, '/mcp', '--agent', 'researcher')
    const outsider = await client(daemon, '/mcp', '--agent', 'outsider')
    const send = async (who: typeof engineer, platform: string, target: string, body: string) => {
      const sent = await who.call('send_message', { platform, target, body })
      expect(sent.text.length).toBeLessThanOrEqual(1024)
      return sent
    }

    const tool = (await engineer.mcp.listTools()).tools.find(({ name }) => name === 'send_message')
    expect(tool?.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        platform: { type: 'string' },
        target: { type: 'string' },
        body: { type: 'string' },
      },
      required: ['platform', 'target', 'body'],
    })

    // Telegram → Slack, as it stands there; the same within 30 seconds is ok and posts nothing.
    const green = ['slack', 'C0123ABC', 'build green ✓'] as const
    expect(await send(engineer, ...green)).toMatchObject({
      text: 'Message sent to slack:C0123ABC',
      isError: false,
      structured: { ok: true, status: 'sent' },
    })
    expect(await send(engineer, ...green)).toMatchObject({
      isError: false,
      structured: { ok: true, status: 'deduplicated' },
    })
    const inSlack = () => slack.world.messages('C0123ABC').map(({ text }) => text)
    expect(inSlack()).toEqual(['build green ✓'])
    // The fan-out, one call a target.
    expect((await send(engineer, 'slack', 'C0123ABC', 'daily standup in 5min')).isError).toBe(false)
    expect(inSlack()).toEqual(['build green ✓', 'daily standup in 5min'])
    // Slack → Telegram.
    expect((await send(engineer, 'telegram', '-100123', 'alert')).text).toBe(
      'Message sent to telegram:-100123',
    )
    expect(telegram.world.shown(-100123).map(({ message }) => message.text)).toEqual(['alert'])
    // A user id of Slack, a chat and a channel name of Telegram, a channel of Discord, an address that never wrote.
    const general = discord.world.addChannel({ id: '1234567890123456789', type: 0 })
    for (const [platform, target] of [
      ['slack', people.slack.user.id],
      ['telegram', String(people.telegram.user.id)],
      ['telegram', '@channelname'],
      ['discord', general.id],
      ['email', 'ops@acme.com'],
    ] as const) {
      expect(await send(researcher, platform, target, 'alert')).toMatchObject({
        text: `Message sent to ${platform}:${target}`,
        isError: false,
      })
    }
    expect(people.telegram.sees()).toContain('alert')
    expect((await mail.person('ops@acme.com').reads()).map(({ text }) => text.trim())).toEqual(['alert'])

    // Errors, to the letter.
    for (const missing of ['platform', 'target', 'body']) {
      const args: Record<string, unknown> = { platform: 'slack', target: 'C0123ABC', body: 'x' }
      delete args[missing]
      for (const bad of [args, { ...args, [missing]: '' }])
        expect(await engineer.call('send_message', bad)).toMatchObject({
          text: 'platform, target, and body are required',
          isError: true,
          structured: { ok: false, code: 'input_invalid', error: 'platform, target, and body are required' },
        })
    }
    const denial = (platform: string, target: string, allowed: string) =>
      `Target "${platform}:${target}" is not in the personality's allowed messaging targets. Allowed: ${allowed}`
    const denied = await send(engineer, 'slack', 'C0NOTIN', 'x')
    expect(denied).toMatchObject({
      text: denial('slack', 'C0NOTIN', 'slack:C0123ABC, telegram:-100123'),
      isError: true,
      structured: { ok: false, code: 'input_invalid' },
    })
    expect((await send(outsider, 'slack', 'C0123ABC', 'x')).text).toBe(denial('slack', 'C0123ABC', 'none'))
    expect(await send(researcher, 'signal', '1', 'x')).toMatchObject({
      text: 'No adapter registered for platform "signal"',
      isError: true,
      structured: { ok: false, code: 'execution_failed' },
    })
    // Refused by the platform; tried again after the cause is gone it is sent, not called equal.
    const refused = await send(researcher, 'slack', 'C0NOTIN', 'again')
    expect(refused).toMatchObject({ isError: true, structured: { ok: false, code: 'execution_failed' } })
    expect(refused.text).toMatch(/^Adapter send failed: not_in_channel/)
    slack.world.addChannel({ id: 'C0NOTIN' })
    expect(await send(researcher, 'slack', 'C0NOTIN', 'again')).toMatchObject({
      text: 'Message sent to slack:C0NOTIN',
      structured: { status: 'sent' },
    })
    await expectLedgerHolds(data)
  })
})

describe('[I35.b46-seeds] the page of the notify server', () => {
  it('its example, the channels, urgency, claims, grants, errors and the log', async () => {
    const { data, start, telegram, slack, mail, sink, people } = await open()
    const daemon = await start()
    people.telegram.says('hello')
    people.slack.says('hello')
    await until('the echo', () => people.telegram.sees().some((text) => text.includes('You said: hello')))
    await post(`${daemon.url}/hooks/jobs`, 'job started', {
      'x-webhook-secret': 'in-secret',
      'x-conversation': 'job',
    })
    const sessionOf = (words: string) =>
      until(`"${words}" is answered`, async () =>
        (await askLines<{ text: string; session: string; state: string }>(data, 'turns')).find(
          ({ text, state }) => text?.endsWith(words) && state === 'answered',
        ),
      ).then(({ session }) => session)
    const job = await sessionOf('job started')
    const own = await sessionOf('hello')
    const of = ['--kind', 'notify', '--agent', 'engineer', '--session', job]
    const { mcp, token, call } = await client(daemon, '/mcp/notify', ...of)
    expect(token).toMatch(/^notify_/)

    const [tool, ...rest] = (await mcp.listTools()).tools
    expect(rest).toEqual([])
    expect(tool?.name).toBe('notify_user')
    expect(tool?.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        message: { type: 'string' },
        channel: { type: 'string' },
        urgency: { type: 'string', enum: ['low', 'normal', 'high'] },
        claim_thread: { type: 'boolean' },
        claim_thread_label: { type: 'string' },
      },
      required: ['message'],
    })
    const notify = (args: Record<string, unknown>) => call('notify_user', args)

    // The example as it stands.
    const example = {
      message: 'Your statement is due in 5 days. $267 minimum.',
      channel: `telegram:${TG}`,
      urgency: 'normal',
      claim_thread: true,
      claim_thread_label: 'cc-payment',
    }
    expect(await notify(example)).toMatchObject({
      text: `Notification sent via telegram:${TG}`,
      isError: false,
    })
    const shown = telegram.world
      .shown(people.telegram.chat.id)
      .find(({ message }) => message.text === example.message)
    expect(shown?.message.reply_markup?.inline_keyboard.flat().map(({ text }) => text)).toEqual([
      '📎 Reply here',
      '💬 Keep my chat',
    ])
    people.telegram.says('pay it')
    expect(await sessionOf('[Switched to cc-payment thread]\n\npay it')).toBe(job)
    people.telegram.says('/back')
    // An id of a session among the arguments claims nothing but the token's own.
    expect((await notify({ ...example, message: 'And now?', session_id: own, sessionId: own })).isError).toBe(
      false,
    )
    people.telegram.says('this one')
    expect(await sessionOf('this one')).toBe(job)
    people.telegram.says('/back')

    // Bare types, the default, and each integration by its id; urgency in each.
    expect((await notify({ message: 'by default' })).text).toMatch(/^Notification sent via telegram/)
    expect((await notify({ message: 'by type', channel: 'telegram' })).text).toBe(
      'Notification sent via telegram',
    )
    expect((await notify({ message: 'out', channel: 'webhook', urgency: 'high' })).text).toBe(
      'Notification sent via webhook',
    )
    expect(sink.taken.at(-1)).toMatchObject({ message: 'out', urgency: 'high', signed: true })
    expect((await notify({ message: 'out again', channel: 'webhook:sink' })).text).toBe(
      'Notification sent via webhook:sink',
    )
    expect(sink.taken.at(-1)).toMatchObject({ message: 'out again', urgency: 'normal' })
    for (const [channel, message] of [
      ['slack', 'in colour'],
      ['email', 'with a prefix'],
    ] as const)
      expect(await notify({ message, channel, urgency: 'high' })).toMatchObject({
        text: `Notification sent via ${channel}`,
        isError: false,
      })
    const coloured = slack.world
      .messages(slack.world.direct(people.slack.user.id).id)
      .find((one) => JSON.stringify(one).includes('in colour'))
    expect(JSON.stringify(coloured)).toMatch(/"color":"/)
    const [letter] = await mail.person(FAKE_KATE_ADDRESS).reads()
    expect(letter?.subject).toMatch(/^\[Urgent\] /)

    // Errors: isError and the reason.
    expect(await notify({})).toMatchObject({ isError: true, text: expect.stringContaining('message') })
    for (const [channel, reason] of [
      ['telegram:int_nowhere', 'not found'],
      ['webhook:foreign', 'not granted'],
      ['imessage', 'No imessage integration'],
    ] as const) {
      const failed = await notify({ message: 'lost', channel })
      expect(failed.isError).toBe(true)
      expect(failed.text).toContain(reason)
      expect(failed.text).not.toContain('Notification failed')
    }
    expect((await notify({ message: 'x', urgency: 'huge' })).isError).toBe(true)
    const plain = await post(`${daemon.url}/mcp/notify`, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {
      'content-type': 'application/json',
      authorization: 'Bearer notify_made-up',
    })
    expect(plain.status).toBe(401)

    // Every attempt is in the log.
    const database = new DatabaseSync(join(data, 'switchboard.db'), { readOnly: true })
    const rows = database
      .prepare(`SELECT n.channel, n.message, coalesce(o.state, n.status) AS status, n.error, n.session
         FROM notification_log n LEFT JOIN outbox o ON o.seq = n.send ORDER BY n.at`)
      .all() as { channel: string; message: string; status: string; error: string | null; session: string }[]
    database.close()
    expect(rows.filter(({ status }) => status === 'sent')).toHaveLength(8)
    expect(rows.filter(({ status }) => status === 'failed').map(({ message }) => message)).toEqual([
      'lost',
      'lost',
      'lost',
    ])
    expect(new Set(rows.map(({ session }) => session))).toEqual(new Set([job]))
    await expectLedgerHolds(data)
  })
})
