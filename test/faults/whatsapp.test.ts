// WhatsApp from outside, over a real daemon that is killed again and again: approval, claim, statuses and a closed window. WhatsApp itself
// is the emulator's, in this process: it outlives the daemon, and posts what was not taken until it is.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createFakeWhatsApp, type WhatsAppPerson } from '../../src/testing/emulate.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { escapedJson, signatureOf } from '../../src/testing/whatsapp/webhook-posts.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { until } from './until.ts'

const scene = createScene()
const HOOK_SECRET = 'one-secret-for-the-hooks'

interface Send {
  readonly id: string
  readonly to: string
  readonly state: string
  readonly reason: string | null
  readonly detail: string | null
  readonly text: string | null
  readonly receipt: string | null
}

async function openWhatsApp() {
  const port = await freePort()
  const fake = await createFakeWhatsApp({ retryMs: [50, 100, 200] })
  scene.onEnd(() => fake.stop())
  fake.webhook.aim(`http://127.0.0.1:${port}/hooks/wa`)
  const kate = fake.person()
  const anna = fake.person({ number: '4915187654321', name: 'Anna' })
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  const secret = (name: string, value: string) => writeFileSync(join(data, name), value, { mode: 0o600 })
  secret('wa.token', fake.token)
  secret('wa.secret', fake.appSecret)
  secret('wa.verify', fake.verifyToken)
  secret('hook.secret', HOOK_SECRET)
  writeFileSync(
    config,
    `integrations:
  - { id: wa, platform: whatsapp, phone_number_id: "${fake.phoneNumberId}", access_token: "file:wa.token",
      app_secret: "file:wa.secret", verify_token: "file:wa.verify", api_url: "${fake.url}", default: true,
      access: { dm: allowlist, allow_from: ["${kate.chat}", "${anna.chat}"], approvers: ["${kate.chat}"] } }
  - { id: crowd, platform: webhook, secret: "file:hook.secret", signature: plain, two_way: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: whatsapp, instance: wa }, { plugin: webhook, instance: crowd }]
`,
  )
  const start = () => scene.start({ data, config, port })
  /** A daemon that dies by its own hand at the point, on its way through what was done; another one takes over. */
  const dieAt = async (point: string, act: () => void) => {
    act()
    const doomed = scene.launch({ data, config, port, env: { SWITCHBOARD_CRASH_AT: point } })
    expect((await doomed.exited).signal).toBe('SIGKILL')
    return start()
  }
  return { fake, kate, anna, data, start, dieAt }
}

const copies = (person: WhatsAppPerson, part: string) => person.sees().filter((text) => text.includes(part))
const outbox = (data: string) => askLines<Send>(data, 'outbox', '--limit', '1000')

async function notifyWithClaim(daemon: Daemon, session: string): Promise<string> {
  const of = ['--agent', 'demo', '--session', session, '--kind', 'notify']
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', ...of)
  const params = {
    name: 'notify_user',
    arguments: { message: 'Job done. Go on?', claim_thread: true, claim_thread_label: 'ops' },
  }
  const told = await post(
    `${daemon.url}/mcp/notify`,
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  )
  return told.text
}

describe('[I24.end-to-end] whatsapp across kill -9', () => {
  it('[I24.wa-settled] [I24.wa-receipts] an approval: asked, killed, tapped while nobody is there, done once', async () => {
    const { kate, fake, data, start, dieAt } = await openWhatsApp()
    const first = await start()
    kate.says('hello')
    await until('the echo', () => copies(kate, 'You said: hello').length > 0)
    await first.kill9()
    // Its answer is lost by the kill; WhatsApp took it, and its status says so.
    const second = await dieAt('outbox.after-send', () => kate.says('once'))
    await until('the echo', () => copies(kate, 'You said: once').length > 0)
    await until('it is settled', async () =>
      (await outbox(data)).some(
        ({ text, receipt }) => text?.includes('You said: once') && receipt === 'delivered',
      ),
    )
    kate.says('deploy')
    await until('the question', () => copies(kate, 'demo wants to run Deploy').length > 0)
    await second.kill9()
    kate.taps('Allow')
    await start()
    await until('the deploy', () => copies(kate, 'Deployed').length > 0)
    for (const part of ['You said: hello', 'You said: once', 'Deployed'])
      expect([part, copies(kate, part).length]).toEqual([part, 1])
    expect(copies(kate, 'may be a duplicate')).toEqual([])
    // Read while nobody listens: it is told when somebody does.
    kate.reads()
    await until('read', async () => {
      const sent = (await outbox(data)).filter(
        ({ state, text }) => state === 'sent' && text?.includes('You said'),
      )
      return sent.length === 2 && sent.every(({ receipt }) => receipt === 'read')
    })
    await until('every post is taken', () => fake.webhook.waiting() === 0)
    await expectLedgerHolds(data)
  })

  it('[I24.window] [I24.window-template] [I24.receipt-shown] a claim that is tapped, a window that is closed, a template that goes', async () => {
    const { kate, anna, fake, data, start } = await openWhatsApp()
    const first = await start()
    kate.says('hello')
    await until('the echo', () => copies(kate, 'You said: hello').length > 0)
    await post(`${first.url}/hooks/crowd`, 'job started', {
      'x-webhook-secret': HOOK_SECRET,
      'x-conversation': 'ops',
    })
    const job = await until('the job is answered', async () =>
      (await turnsOf(data)).find(({ text, state }) => text?.includes('job started') && state === 'answered'),
    )
    const { session } = job as typeof job & { readonly session: string }
    expect(await notifyWithClaim(first, session)).toContain('Notification sent via')
    await until('the question', () => copies(kate, 'Job done').length > 0)
    await first.kill9()
    kate.taps('📎 Reply here')
    const second = await start()
    await until('threaded', () => copies(kate, 'Threaded').length > 0)
    kate.says('go on')
    const taken = await until('it is answered', async () =>
      (await turnsOf(data)).find(({ text, state }) => text?.includes('go on') && state === 'answered'),
    )
    expect((taken as typeof job & { readonly session: string }).session).toBe(session)
    await second.kill9()

    // It comes a day late: it is a turn, and cannot be answered any more.
    anna.says('is anybody there?', { agoMs: 25 * 3_600_000 })
    await start()
    const refused = await until('the window', async () =>
      (await outbox(data)).find(({ reason }) => reason === 'window_closed'),
    )
    expect(refused).toMatchObject({
      state: 'failed',
      to: `wa:${anna.chat}`,
      detail: expect.stringContaining('closed at'),
    })
    expect(fake.world.shown(anna.chat).filter(({ fromBot }) => fromBot)).toEqual([])
    fake.world.templates.set('sorry', { language: 'en', body: 'Sorry, {{1}}. Write to us again?' })
    const sent = await switchboard(
      data,
      'send',
      `wa:${anna.chat}`,
      '--template',
      'sorry',
      '--language',
      'en',
      '--param',
      'Anna',
    )
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining('sent') })
    expect(anna.sees()).toEqual(['Sorry, Anna. Write to us again?'])
    anna.says('here I am')
    await until('the echo', () => copies(anna, 'You said: here I am').length > 0)
    const shown = (await outbox(data)).find(({ text }) => text?.includes('You said: here I am'))
    await until('the receipt', async () =>
      (await switchboard(data, 'outbox', 'show', shown?.id ?? '')).stdout.includes('delivered'),
    )
    await expectLedgerHolds(data)
  })

  it('[I24.wa-large] a signed post of 2.5 MB is taken, a forged one and one that is over 3 MB are not', async () => {
    const { kate, fake, data, start } = await openWhatsApp()
    const daemon = await start()
    const message = (id: string, body: string) => ({
      from: kate.chat,
      id,
      timestamp: String(Math.floor(Date.now() / 1_000)),
      type: 'text',
      text: { body },
    })
    const padded = (id: string, bytes: number) =>
      escapedJson({ ...fake.envelope({ messages: [message(id, id)] }), padding: 'x'.repeat(bytes) })
    const sent = async (hook: string, body: string, signature: string) =>
      (await post(`${daemon.url}/hooks/${hook}`, body, { 'x-hub-signature-256': signature })).status
    const large = padded('large', 2_500_000)
    expect(await sent('wa', large, signatureOf('another secret', large))).toBe(401)
    expect(await sent('wa', large, signatureOf(fake.appSecret, large))).toBe(200)
    await until('the echo', () => copies(kate, 'You said: large').length > 0)
    const over = padded('over', 3_200_000)
    expect(await sent('wa', over, signatureOf(fake.appSecret, over))).toBe(413)
    // Other hooks keep to the configured size.
    expect(await sent('crowd', large, '')).toBe(413)
    expect((await turnsOf(data)).some(({ text }) => text === 'over')).toBe(false)
  })
})
