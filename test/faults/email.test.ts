// A conversation by mail with the real daemon and a real IMAP and submission server: an attachment, an approval by reply, a
// claim, and kill -9 at each step. The servers start once and outlive the daemons.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inMailbox, PROVEN, putMails } from '../../src/platforms/email/fixtures/email-scene.ts'
import {
  type MailServers,
  startMailServers,
  withoutServers,
} from '../../src/platforms/email/fixtures/mail-servers.ts'
import { dealtPlans } from '../scenarios/deal.ts'
import type { Daemon } from './daemon.ts'
import { post } from './hook-client.ts'
import { expectLedgerHolds, settled, type Turn, turnsOf } from './river-checks.ts'
import { askJson, askLines, createScene } from './scene.ts'
import { until } from './until.ts'

const missing = withoutServers()
const scene = createScene()
const HOOK_SECRET = 'one-secret-for-the-hooks'
let servers: MailServers
let boxes = 0

beforeAll(async () => {
  if (missing === null) servers = await startMailServers(null)
}, 60_000)
afterAll(async () => {
  await servers?.stop()
}, 30_000)

interface Got {
  readonly id: string
  readonly subject: string
  readonly text: string
}

/** A mailbox for the bot and one for Kate, of their own for each test. */
async function openMail(connector = 'demo') {
  boxes += 1
  const [bot, kate] = [`bot${boxes}@gw.test`, `kate${boxes}@home.test`]
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'mail.password'), servers.password, { mode: 0o600 })
  writeFileSync(join(data, 'hook.secret'), HOOK_SECRET, { mode: 0o600 })
  const login = (port: number) =>
    `{ host: 127.0.0.1, port: ${port}, password: "file:mail.password", tls: false }`
  writeFileSync(
    config,
    `integrations:
  - { id: mail, platform: email, address: ${bot}, imap: ${login(servers.imap)}, smtp: ${login(servers.submission)},
      authserv_id: mx.gw.test, results_below_received: true, poll_interval: 1s, default: true, access: { allow_from: ["${kate}"], approvers: ["${kate}"] } }
  - { id: crowd, platform: webhook, secret: "file:hook.secret", signature: plain, two_way: true }
agents:
  - id: demo
    connector: { type: ${connector} }
    inbound_bindings: [{ plugin: email, instance: mail }, { plugin: webhook, instance: crowd }]
`,
  )
  let said = 0
  const lines = (text: string, more: readonly string[] = [], subject = 'hello') => {
    const head = [
      `Message-ID: <k${++said}.${boxes}@home.test>`,
      ...[PROVEN, `From: Kate <${kate}>`, `To: ${bot}`, `Subject: ${subject}`],
    ]
    return [...head, ...more, '', text]
  }
  const start = () => scene.start({ data, config })
  const got = () =>
    inMailbox(servers, kate, async (client): Promise<readonly Got[]> => {
      const found = await client.fetchAll('1:*', { source: true, envelope: true }).catch(() => [])
      return found.map(({ source, envelope }) => ({
        id: envelope?.messageId ?? '',
        subject: envelope?.subject ?? '',
        text: (source?.toString() ?? '').replace(/=\r\n/g, ''),
      }))
    })
  return {
    bot,
    data,
    start,
    got,
    sees: (part: string) => until(part, async () => (await got()).find(({ text }) => text.includes(part))),
    lines,
    writes: (text: string, more: readonly string[] = [], subject = 'hello') =>
      putMails(servers, bot, [lines(text, more, subject)]),
    /** Ready once, so that the mailbox has its beginning; then a daemon that dies at the point, and one that takes over. */
    async dieAt(point: string, act: () => Promise<unknown>): Promise<Daemon> {
      await act()
      const doomed = scene.launch({ data, config, env: { SWITCHBOARD_CRASH_AT: point } })
      const { signal } = await doomed.exited
      expect(signal).toBe('SIGKILL')
      return start()
    },
    begun: async (daemon: Daemon) =>
      until('the mailbox is read', async () => {
        const { integrations } = await askJson<{ integrations: readonly { id: string; link: string }[] }>(
          daemon.data,
          'status',
        )
        return integrations.some(({ id, link }) => id === 'mail' && link === 'up')
      }),
  }
}

const ATTACHED = [
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Type: text/plain',
  '',
  'hello',
  '--b',
  'Content-Type: text/csv',
  'Content-Disposition: attachment; filename=a.csv',
  '',
  'a,b',
  '--b--',
]
const QUOTED = [
  '',
  'On Mon, Nov 16, 2026 at 11:00 AM Bot <bot@gw.test> wrote:',
  '> demo wants to run Deploy',
  '> Reply "yes abcde" or "no abcde"',
].join('\r\n')

describe('[I19.kill] mail → demo agent → approval by reply', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })
  const POINTS = [
    ['word', 'store.before-commit@3'],
    ['word', 'outbox.after-send'],
    ['deploy', 'dispatch.after-hand-over'],
    ['deploy', 'outbox.before-send'],
    ['verdict', 'store.after-commit@3'],
    ['verdict', 'outbox.after-send'],
  ] as const

  it.each(dealtPlans(POINTS, ([step]) => step))(
    '[I19.approval-reply] [I19.label] kill -9 at the %s, %s: all arrives, and nothing twice',
    async (step, point) => {
      const mail = await openMail()
      let daemon = await mail.start()
      await mail.begun(daemon)
      const die = async (act: () => Promise<unknown>) => {
        // What waits for a verdict is not settled.
        if (step !== 'verdict') await settled(mail.data)
        await daemon.kill9()
        daemon = await mail.dieAt(point, act)
      }
      const word = () => mail.writes('', ATTACHED)
      await (step === 'word' ? die(word) : word())
      const echo = await mail.sees('You said: hello')
      const thread = [`In-Reply-To: ${echo.id}`, `References: <k1.${String(boxes)}@home.test> ${echo.id}`]
      const deploy = () => mail.writes('deploy', thread, `Re: ${echo.subject}`)
      await (step === 'deploy' ? die(deploy) : deploy())
      const prompt = await mail.sees('demo wants to run Deploy')
      const [, code = ''] = /"yes ([a-km-z]{5})"/.exec(prompt.text) ?? []
      const answer = () =>
        mail.writes(`yes ${code}\r\n${QUOTED}`, [`In-Reply-To: ${prompt.id}`], `Re: ${prompt.subject}`)
      await (step === 'verdict' ? die(answer) : answer())
      await mail.sees('Deployed')
      await settled(mail.data)
      const labels = (await askLines<{ label: string | null }>(mail.data, 'conversations')).map(
        ({ label }) => label,
      )
      expect(labels).toContain(`Re: ${echo.subject}`)
      const turns = (await turnsOf(mail.data)).filter(({ state }) => state !== 'refused')
      expect(turns.map(({ state, reason }) => reason ?? state)).toEqual(['answered', 'answered', 'verdict'])
      // A mail that was sent twice has the same id: whoever reads it sees one.
      for (const part of ['You said: hello', 'Deployed']) {
        const copies = (await mail.got()).filter(({ text }) => text.includes(part))
        expect(new Set(copies.map(({ id }) => id)).size, part).toBe(1)
      }
      await expectLedgerHolds(mail.data)
      expect(daemon.stderr()).not.toContain(servers.password)
      await daemon.terminate()
    },
  )

  it.each([
    ['In-Reply-To', 'dispatch.after-hand-over'],
    ['the token', 'store.before-commit@3'],
  ] as const)(
    '[I19.claim-reply] [I19.claim-token] [I19.notify] a reply to a notification reaches its session by %s, killed at %s',
    async (way, point) => {
      const mail = await openMail()
      const first = await mail.start()
      await mail.begun(first)
      await post(`${first.url}/hooks/crowd`, 'job started', {
        'x-webhook-secret': HOOK_SECRET,
        'x-conversation': 'ops',
      })
      const job = await answered(mail.data, 'job started')
      expect(await notifyWithClaim(first, job.session)).toContain('Notification sent via')
      const question = await mail.sees('Job done')
      expect(question.subject).toContain('[Urgent] Job done')
      await settled(mail.data)
      await first.kill9()
      const headers =
        way === 'In-Reply-To' ? [`In-Reply-To: ${question.id}`, `References: ${question.id}`] : []
      const subject = way === 'In-Reply-To' ? 'Re: something else' : `AW: ${question.subject}`
      const second = await mail.dieAt(point, () => mail.writes('go on, please', headers, subject))
      expect((await answered(mail.data, 'go on, please')).session).toBe(job.session)
      await expectLedgerHolds(mail.data)
      await second.terminate()
    },
  )
})

describe('a full mailbox', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })

  it('[I19.in-thousand] 1,000 mails that came during a downtime are taken once each by the daemon, killed in their midst', async () => {
    const mail = await openMail('channel')
    const first = await mail.start()
    await mail.begun(first)
    await first.kill9()
    await servers.lay(
      mail.bot,
      Array.from({ length: 1_000 }, (_, at) => mail.lines(`mail ${at}`)),
    )
    const taken = async () =>
      (await turnsOf(mail.data)).flatMap(({ text }) => (text?.startsWith('mail ') ? [text] : []))
    const second = await mail.start()
    await until('some are taken', async () => (await taken()).length > 0)
    await second.kill9()
    await mail.start()
    await until('all are taken', async () => (await taken()).length >= 1_000, 300_000)
    expect((await taken()).toSorted()).toEqual(
      Array.from({ length: 1_000 }, (_, at) => `mail ${at}`).toSorted(),
    )
    await expectLedgerHolds(mail.data)
  }, 420_000)
})

type SessionTurn = Turn & { readonly session: string }

function answered(data: string, words: string): Promise<SessionTurn> {
  return until(`"${words}" is answered`, async () => {
    const turn = (await turnsOf(data)).find(
      ({ text, state }) => text?.includes(words) && state === 'answered',
    )
    return turn as SessionTurn | undefined
  })
}

async function notifyWithClaim(daemon: Daemon, session: string): Promise<string> {
  const of = ['--agent', 'demo', '--session', session, '--kind', 'notify']
  const { token } = await askJson<{ token: string }>(daemon.data, 'token', 'mint', ...of)
  const args = { message: 'Job done. Go on?', urgency: 'high', claim_thread: true, claim_thread_label: 'ops' }
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'notify_user', arguments: args },
  }
  const told = await post(`${daemon.url}/mcp/notify`, JSON.stringify(call), {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  })
  return told.text
}
