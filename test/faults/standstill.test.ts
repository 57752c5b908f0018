// No input stands still: every adapter and connector of a real daemon gets its largest input in every hostile form that we
// know, from somebody who may speak and from a stranger. What the daemon's main thread spends is counted by the kernel, so a
// busy machine does not change it.
import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createFakeDiscord,
  createFakeMail,
  createFakeSlack,
  createFakeTelegram,
  createFakeWhatsApp,
  FAKE_KATE_ADDRESS,
} from '../../src/testing/emulate.ts'
import { scratchFolder } from '../../src/testing/scratch.ts'
import { type Daemon, launch } from './daemon.ts'
import { post } from './hook-client.ts'
import { askJson, askLines } from './scene.ts'
import { createMeasure, families, MB, missing, text } from './standstill-scene.ts'
import { pause, until } from './until.ts'

const SECRET = 'one-secret-for-the-hooks'
/** What a worker thread may take beside the main thread. */
const WORKER_BYTES = 512 * MB

const LOUD = fileURLToPath(new URL('./fixtures/loud-program.mjs', import.meta.url))
const LOUD_SERVER = 'channel:loud@demo'

let daemon: Daemon
let doors: Awaited<ReturnType<typeof openDoors>>
const undo: (() => Promise<unknown> | unknown)[] = []

/** What agents answer now. */
let respond: (response: ServerResponse, body: string) => void = (response) => response.end()

async function openDoors() {
  const [telegram, slack, discord, whatsapp, mail] = await Promise.all([
    createFakeTelegram(),
    createFakeSlack(),
    createFakeDiscord(),
    createFakeWhatsApp({ retryMs: [50, 100] }),
    createFakeMail(),
  ])
  for (const fake of [telegram, slack, discord, whatsapp, mail]) undo.push(() => fake.stop())
  const agents = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => respond(response, body))
  })
  await new Promise<void>((resolve) => agents.listen(0, '127.0.0.1', resolve))
  undo.push(() => agents.close())
  undo.push(() => agents.closeAllConnections())
  return {
    telegram,
    slack,
    discord,
    whatsapp,
    mail,
    agents: `http://127.0.0.1:${(agents.address() as AddressInfo).port}`,
  }
}

function configIn(data: string): string {
  const { telegram, slack, discord, whatsapp, mail, agents } = doors
  const secret = (name: string, value: string) => {
    writeFileSync(join(data, name), value, { mode: 0o600 })
    return `"file:${name}"`
  }
  const hook = secret('hook', SECRET)
  const only = (id: string | number) => `access: { dm: allowlist, allow_from: ["${id}"] }`
  const [onTelegram, onSlack, onDiscord, onWhatsApp] = [
    only(telegram.person().user.id),
    only(slack.person().user.id),
    only(discord.person().user.id),
    only('4915112345678'),
  ]
  const server = (port: number) =>
    `{ host: 127.0.0.1, port: ${port}, tls: false, password: ${secret('mail', mail.password)} }`
  const platforms = ['telegram', 'slack', 'discord', 'whatsapp', 'email', 'webhook']
  const bind = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([plugin, instance]) => `{ plugin: ${plugin}, instance: ${instance} }`).join(', ')
  const config = join(data, 'switchboard.yaml')
  for (const name of ['push.json', 'say.json']) writeFileSync(join(data, name), '{"piece":"x","times":1}')
  writeFileSync(
    config,
    `integrations:
  - { id: telegram, platform: telegram, token: ${secret('tg', telegram.token)}, api_root: "${telegram.url}", mode: polling, ${onTelegram} }
  - { id: slack, platform: slack, bot_token: ${secret('xoxb', slack.botToken)}, app_token: ${secret('xapp', slack.appToken)}, api_url: "${slack.apiUrl}", ${onSlack} }
  - { id: discord, platform: discord, token: ${secret('dc', discord.token)}, api_url: "${discord.apiUrl}", ${onDiscord} }
  - { id: whatsapp, platform: whatsapp, phone_number_id: "${whatsapp.phoneNumberId}", access_token: ${secret('wa', whatsapp.token)},
      app_secret: ${secret('was', whatsapp.appSecret)}, verify_token: ${secret('wav', whatsapp.verifyToken)}, api_url: "${whatsapp.url}", ${onWhatsApp} }
  - { id: email, platform: email, address: ${mail.bot}, imap: ${server(mail.imapPort)}, smtp: ${server(mail.smtpPort)},
      authserv_id: ${mail.authservId}, poll_interval: 1s, answers_per_hour: 10000, access: { allow_from: ["${FAKE_KATE_ADDRESS}"] } }
  - { id: webhook, platform: webhook, secret: ${hook}, signature: plain, two_way: true }
  - { id: asks, platform: webhook, secret: ${hook}, signature: plain, two_way: true }
  - { id: codes, platform: webhook, secret: ${hook}, signature: plain, two_way: true }
  - { id: relays, platform: webhook, secret: ${hook}, signature: plain, two_way: true }
  - { id: service, platform: chorus, name: demo, allow_private: true }
  - { id: thinks, platform: webhook, secret: ${hook}, signature: plain, two_way: true }
mcp_servers:
  loud: { command: ${JSON.stringify(process.execPath)}, args: ["${LOUD}", mcp, ${JSON.stringify(join(data, 'push.json'))}] }
agents:
  - { id: demo, connector: { type: demo }, channels: { enabled: true, approved: [{ server: loud }] },
      inbound_bindings: [${bind(platforms.map((name) => [name, name]))}, { plugin: chorus, instance: service, allowed_channel_servers: [loud] }] }
  - { id: coder, connector: { type: acp, command: ${JSON.stringify(process.execPath)}, args: ["${LOUD}", acp, ${JSON.stringify(join(data, 'say.json'))}], cwd: "${data}" },
      inbound_bindings: [${bind([['webhook', 'codes']])}] }
  - { id: relay, connector: { type: chorus, url: ${secret('chorus', `${agents}/chorus`)}, allow_private: true }, inbound_bindings: [${bind([['webhook', 'relays']])}] }
  - { id: far, connector: { type: http, url: "${agents}/far", allow_private: true }, inbound_bindings: [${bind([['webhook', 'asks']])}] }
  - { id: mind, connector: { type: llm, provider: openai-compatible, base_url: "${agents}/v1", model: m, api_key: ${secret('key', 'k')} },
      inbound_bindings: [${bind([['webhook', 'thinks']])}] }
`,
  )
  return config
}

beforeAll(async () => {
  if (missing !== null) return
  doors = await openDoors()
  const data = scratchFolder('standstill')
  undo.push(() => rmSync(data, { recursive: true, force: true }))
  const started = launch({ data, config: configIn(data) })
  undo.push(async () => {
    started.process.kill('SIGKILL')
    await started.exited
  })
  const ready = await started.ready
  if (ready === null) throw new Error(started.stderr())
  daemon = ready
  doors.whatsapp.webhook.aim(`${daemon.url}/hooks/whatsapp`)
  await pause(2_000)
}, 120_000)
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
}, 60_000)

type Turn = { readonly integration: string; readonly reason: string | null }

const { expectBounded, expectReturned } = createMeasure(() => daemon, 'standstill.txt')

let connection: string | null = null
let mails = 0
/** Puts a mail into the mailbox, and waits until the daemon has taken it. */
async function mailed(head: readonly string[], body: string | Buffer): Promise<void> {
  const { mail } = doors
  const inbox = mail.world.mailbox(mail.bot).folders.get('INBOX')
  if (inbox === undefined) throw new Error('no inbox')
  const id = `Message-ID: <m${++mails}@home.test>`
  const raw = Buffer.concat([Buffer.from([...head, id, '', ''].join('\r\n')), Buffer.from(body)])
  const put = mail.world.append(inbox, { raw })
  await until('the mail is taken', () => put.flags.has('\\Seen'))
}

describe('[I35.a3] the main thread spends less than 200 ms', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  it.each(families)('on 1 MiB at a webhook: %s', async (family) => {
    const body = text(family, MB - 1_000)
    const headers = { 'x-webhook-secret': SECRET, 'x-conversation': 'c' }
    await expectBounded(() => post(`${daemon.url}/hooks/webhook`, body, headers), body.length)
  })

  it.each(['/hooks/webhook', '/hooks/slack', '/hooks/whatsapp', '/inbox/sk_none', '/callback/none'])(
    'on 1 MiB of a stranger at %s',
    async (path) => {
      const body = '['.repeat(MB - 1_000)
      const json = { 'content-type': 'application/json', 'x-webhook-secret': 'wrong' }
      await expectBounded(() => post(`${daemon.url}${path}`, body, json), body.length)
    },
  )

  const chats: readonly (readonly [string, number, (said: string) => unknown, (said: string) => unknown])[] =
    [
      [
        'telegram',
        4_096,
        (said) => doors.telegram.person().says(said),
        (said) => doors.telegram.person({ id: 99, name: 'Mallory' }).says(said),
      ],
      [
        'slack',
        40_000,
        (said) => doors.slack.person().says(said),
        (said) => doors.slack.person({ id: 'U0MALLORY', name: 'Mallory' }).says(said),
      ],
      [
        'discord',
        2_000,
        (said) => doors.discord.person().says(said),
        (said) => doors.discord.person({ id: '930000000000000099', name: 'Mallory' }).says(said),
      ],
      [
        'whatsapp',
        4_096,
        (said) => doors.whatsapp.person().says(said),
        (said) => doors.whatsapp.person({ number: '491709999999', name: 'Mallory' }).says(said),
      ],
    ]
  it.each(
    chats.flatMap(([name, size, known, stranger]) =>
      families.flatMap((family) => [
        [name, 'somebody who may write', family, size, known] as const,
        [name, 'a stranger', family, size, stranger] as const,
      ]),
    ),
  )('on the longest message on %s of %s: %s', async (_name, _who, family, size, says) => {
    const said = `a${text(family, size - 10)}b`
    await expectBounded(async () => says(said), size)
  })

  it.each(families)('on a mail of 1 MB: %s', async (family) => {
    const head = [`Authentication-Results: ${doors.mail.authservId}; dmarc=pass header.from=home.test`]
    const body = text(family, MB)
    for (const type of ['text/plain', 'text/html'])
      await expectBounded(
        () => mailed([...head, `From: ${FAKE_KATE_ADDRESS}`, `Content-Type: ${type}`], body),
        body.length,
        WORKER_BYTES,
      )
  })

  const bombs: readonly (readonly [string, readonly string[], () => string])[] = [
    ['line feeds from mailer-daemon@', ['From: mailer-daemon@evil.test'], () => '\n'.repeat(MB)],
    ['line feeds with an empty Return-Path', ['Return-Path: <>', 'From: m@evil.test'], () => '\n'.repeat(MB)],
    [
      'a report of line feeds',
      ['From: m@evil.test', 'Content-Type: multipart/report; boundary=b'],
      () => `--b\n${'\n'.repeat(MB)}`,
    ],
    [
      '250 kB of header lines',
      ['From: m@evil.test', ...Array.from({ length: 20_000 }, () => 'X: y\r\n z')],
      () => '',
    ],
    [
      'our own address without end',
      ['From: m@evil.test', `To: ${'bot+'.repeat(50_000)}@emulated.test`],
      () => '',
    ],
  ]
  it.each(bombs)('on a mail of a stranger: %s', async (_name, head, body) => {
    const size = head.join('\r\n').length + body().length
    await expectBounded(() => mailed(head, body()), size)
  })

  const own = [`From: ${FAKE_KATE_ADDRESS}`]
  const proven = () => [
    `Authentication-Results: ${doors.mail.authservId}; dmarc=pass header.from=home.test`,
    ...own,
  ]
  const large: readonly (readonly [string, () => readonly string[], () => string])[] = [
    ['24 MB of quoted lines', proven, () => '> a\n'.repeat(6 * MB)],
    [
      '24 MB in base64',
      () => [...proven(), 'Content-Type: application/pdf', 'Content-Transfer-Encoding: base64'],
      () => `${'A'.repeat(76)}\n`.repeat(315_000),
    ],
    [
      '2,000 parts',
      () => [...proven(), 'Content-Type: multipart/mixed; boundary=b'],
      () => '--b\n\na\n'.repeat(1_990),
    ],
    [
      'our own address without end',
      () => [...proven(), `To: ${'bot+'.repeat(50_000)}@emulated.test`],
      () => 'hello',
    ],
    [
      'results without end',
      () => [
        ...Array.from(
          { length: 15 },
          () => `Authentication-Results: ${doors.mail.authservId}; ${'(a)'.repeat(5_000)}`,
        ),
        ...own,
      ],
      () => 'hello',
    ],
  ]
  it.each(large)('on a mail of somebody who may write: %s', async (_name, head, body) => {
    const size = head().join('\r\n').length + body().length
    await expectBounded(() => mailed(head(), body()), size, WORKER_BYTES)
  })

  const ask = (path: string) =>
    post(`${daemon.url}/hooks/${path}`, 'hello', { 'x-webhook-secret': SECRET, 'x-conversation': 'c' })
  it.each(families)('on an answer of 100,000 characters of an http agent: %s', async (family) => {
    const answer = text(family, 99_000)
    respond = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(answer)
    await expectBounded(() => ask('asks'), answer.length)
  })
  it('on 1 MiB of JSON of an http agent, nested', async () => {
    respond = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"text":${'['.repeat(MB - 100)}`)
    await expectBounded(() => ask('asks'), MB)
  })
  it.each(families)('on an answer of a model: %s', async (family) => {
    const piece = text(family, 20)
    const event = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: piece } }] })}\n\n`
    respond = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (let at = 0; at < 600; at++) response.write(event.repeat(10))
      response.end()
    }
    await expectBounded(() => ask('thinks'), event.length * 6_000)
  })

  it.each(families)('on an answer of an ACP agent in 5,000 pieces: %s', async (family) => {
    const said = { piece: text(family, 20), times: 5_000 }
    writeFileSync(join(daemon.data, 'say.json'), JSON.stringify(said))
    await expectBounded(() => ask('codes'), 200 * said.times)
  })
  it.each(families)('on what a channel server pushes, 500,000 characters: %s', async (family) => {
    const said = { piece: text(family, 500_000), times: 1 }
    await expectBounded(
      async () => writeFileSync(join(daemon.data, 'push.json'), JSON.stringify(said)),
      2 * said.piece.length,
    )
  })
  it.each(families)('on a delivery of a Chorus service, 900 kB: %s', async (family) => {
    connection ??= (await askJson<{ connection_string: string }>(daemon.data, 'chorus', 'connect', 'service'))
      .connection_string
    const content = `a${text(family, 450_000)}`
    respond = (response) => response.end()
    const deliver = async () => {
      const { status } = await post(
        connection ?? '',
        JSON.stringify({
          channel: { id: 'c', name: 'n', service: 's', context: 'x' },
          message: { id: `m${++mails}`, content, sender: 'u' },
          callback: `${doors.agents}/callback`,
        }),
        { 'content-type': 'application/json' },
      )
      expect(status).toBe(200)
    }
    await expectBounded(deliver, 900_000)
  })
  it.each(families)('on a callback event of a Chorus agent, 900 kB: %s', async (family) => {
    const content = `a${text(family, 450_000)}`
    respond = (response, body) => {
      response.end()
      const { callback } = JSON.parse(body) as { readonly callback: string }
      const json = { 'content-type': 'application/json' }
      void post(callback, JSON.stringify({ type: 'message', content }), json)
        .then(() => post(callback, JSON.stringify({ type: 'lifecycle', state: 'idle' }), json))
        .catch(() => undefined)
    }
    await expectBounded(() => ask('relays'), 900_000)
  })

  it('and each of them came to an end in the same life of the daemon', async () => {
    await until('all have ended', async () => {
      const { counts } = await askJson<{ readonly counts: Readonly<Record<string, number>> }>(
        daemon.data,
        'status',
      )
      return ['queued', 'handed', 'seen'].every((state) => counts[state] === 0)
    })
    const turns = await askLines<Turn>(daemon.data, 'turns', '--limit', '1000')
    const ends = (integration: string) =>
      new Set(turns.filter((turn) => turn.integration === integration).map(({ reason }) => reason))
    for (const chat of [
      'telegram',
      'slack',
      'discord',
      'whatsapp',
      'thinks',
      'asks',
      'codes',
      'relays',
      'service',
      LOUD_SERVER,
    ])
      expect(ends(chat)).toContain(null)
    for (const chat of ['telegram', 'slack', 'discord', 'whatsapp'])
      expect(ends(chat)).toContain('sender_not_allowed')
    // Nothing was too much for its reader.
    expect([...ends('email')].toSorted()).toEqual(
      [null, 'bot_message', 'empty', 'sender_not_allowed', 'sender_unproven'].toSorted(),
    )
    expect(await Promise.race([daemon.exited, pause(10)])).toBeUndefined()
    await expectReturned()
  })
})
