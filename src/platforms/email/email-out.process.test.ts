// Outbound mail against real servers: the received mail, the copy in Sent, and the outcome after a lost answer.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TranscriptEntry } from '../../contract/index.ts'
import {
  mailsWith,
  openScene,
  PROVEN,
  putMails,
  type Scene,
  type SceneOptions,
  until,
} from './fixtures/email-scene.ts'
import { type MailServers, startMailServers, withoutServers } from './fixtures/mail-servers.ts'
import { startRefusingServer } from './fixtures/refusing-server.ts'
import { createMessageIds } from './mail/message-ids.ts'

const missing = withoutServers()
let servers: MailServers

beforeAll(async () => {
  if (missing !== null) return
  servers = await startMailServers(null)
}, 60_000)
afterAll(async () => {
  await servers?.stop()
}, 30_000)

describe('mail that goes out', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })
  const scenes: Scene[] = []
  const open = async (more: SceneOptions = {}) => {
    const scene = await openScene(servers, more)
    scenes.push(scene)
    return scene
  }
  afterEach(async () => {
    for (const scene of scenes.splice(0)) await scene.close()
  })
  const KATE = 'kate@home.test'
  let keys = 0
  const key = () => `o_out${process.pid}_${++keys}`
  const ids = createMessageIds('gw.test')
  const idOf = ids.of
  const arrived = (of: string, user = KATE) =>
    until(`${of} arrived`, async () => (await mailsWith(servers, user, idOf(of)))[0]?.source)
  const unfolded = (source: string) => source.replace(/\r\n[ \t]+/g, ' ')
  const bodies = (source: string) => source.replace(/=\r\n/g, '').replaceAll('=3D', '=')

  it('[I19.out-forms] [I19.out-headers] [I19.out-id] [S7.email-fresh] [F7.send-email-fresh] [I19.out-fresh] a fresh address gets text and HTML under the row’s id', async () => {
    const scene = await open()
    const one = key()
    const receipt = await scene.send(
      'fresh@home.test',
      { kind: 'text', text: '**Done.** See [the log](https://x.test/l).\n\n- a\n- b' },
      { key: one },
    )
    expect(receipt.platformIds).toEqual([idOf(one)])
    const source = bodies(await arrived(one, 'fresh@home.test'))
    expect(source).toMatch(/^Content-Type: multipart\/alternative/im)
    expect(source).toMatch(/Done\. See the log \(https:\/\/x\.test\/l\)|Done\. See the log/)
    expect(source).toContain('<strong>Done.</strong>')
    expect(source).toContain('<a href="https://x.test/l">the log</a>')
    expect(source).toMatch(/^Auto-Submitted: auto-generated/im)
    expect(source).not.toMatch(/^List-Unsubscribe/im)
    expect(source).not.toMatch(/<img|<script|url\(|@import/i)
    expect(unfolded(source)).toMatch(
      new RegExp(`^Subject: Done\\. See the log.*\\[ref:${one}\\.[0-9a-f]{16}\\]`, 'im'),
    )
  })

  it('[S7.email-thread] [I19.out-thread] an answer carries In-Reply-To, References and Re:, of the newest mail of its thread', async () => {
    const entry = (seq: number, more: Partial<TranscriptEntry>): TranscriptEntry => ({
      ...{
        seq,
        direction: 'in',
        id: `t_${seq}`,
        conversation: KATE,
        thread: '<root@home.test>',
        at: seq,
        text: 'x',
        state: 'answered',
        reason: null,
      },
      ...more,
    })
    const transcript = [
      entry(1, { platformMessageId: '<root@home.test>', meta: { subject: 'Plans' } }),
      entry(2, { direction: 'out', id: 'o_before_1', state: 'sent', platformMessageId: idOf('o_before_1') }),
      entry(3, { platformMessageId: '<third@home.test>', meta: { subject: 'AW: Plans for May' } }),
      entry(4, {
        platformMessageId: '<other@home.test>',
        thread: '<else@home.test>',
        meta: { subject: 'Other' },
      }),
    ]
    const scene = await open({ transcript })
    const one = key()
    await scene.send(KATE, { kind: 'text', text: 'yes' }, { key: one, thread: '<root@home.test>' })
    const source = unfolded(await arrived(one))
    expect(source).toMatch(/^Subject: Re: Plans for May\r$/im)
    expect(source).toMatch(/^In-Reply-To: <third@home\.test>\r$/im)
    expect(source).toMatch(
      /^References: <root@home\.test> <swb\.o_before_1\.[0-9a-f]{16}@gw\.test> <third@home\.test>\r$/im,
    )
    expect(source).toMatch(/^Auto-Submitted: auto-replied/im)
  })

  it('[I19.out-urgency] [S11.notify-urgency-others] urgency is Importance and a prefix; [I19.out-file] a file is an attachment', async () => {
    const scene = await open()
    const [high, low, file] = [key(), key(), key()]
    await scene.send(KATE, { kind: 'text', text: 'Fire', urgency: 'high' }, { key: high })
    await scene.send(KATE, { kind: 'text', text: 'News', urgency: 'low' }, { key: low })
    expect(await arrived(high)).toMatch(/^Importance: high\r$/im)
    expect(await arrived(high)).toMatch(/^Subject: \[Urgent\] Fire/im)
    expect(await arrived(low)).toMatch(/^Subject: \[FYI\] News/im)
    const ref = await scene.adapter.files?.keep?.({
      name: 'a.csv',
      mime: 'text/csv',
      bytes: Buffer.from('a,b'),
    })
    await scene.send(
      KATE,
      { kind: 'file', name: 'a.csv', mime: 'text/csv', ref: ref ?? '', caption: 'the table' },
      { key: file },
    )
    const source = await arrived(file)
    expect(source).toContain('filename=a.csv')
    expect(source).toContain('the table')
  })

  it('[I19.out-injection] names, subjects and addresses inject neither headers nor recipients', async () => {
    const scene = await open({ options: { name: 'Bot\r\nBcc: evil@home.test' } })
    const one = key()
    await scene.send(
      KATE,
      { kind: 'text', text: 'Hello\r\nBcc: evil@home.test\r\n\r\nx', plain: true },
      { key: one },
    )
    const head = (await arrived(one)).split('\r\n\r\n')[0] ?? ''
    expect(head).not.toMatch(/^Bcc:/im)
    for (const target of [
      'b@home.test>\r\nRCPT TO:<evil@home.test',
      'a@home.test, b@home.test',
      'a@home.test\nBcc: b@home.test',
      'Kate <kate@home.test>',
      'kate',
      'ka\u200bte@home.test',
      '-oQ/tmp@home.test',
    ])
      await expect(scene.send(target, { kind: 'text', text: 'x' })).rejects.toMatchObject({
        code: 'platform_rejected',
      })
  })

  it('[I19.out-sent-copy] [I19.out-lost] Sent holds one copy, and an answer that was lost is settled by it where it holds the mail', async () => {
    const scene = await open()
    const [kept, lost] = [key(), key()]
    await scene.send(KATE, { kind: 'text', text: 'kept' }, { key: kept })
    const copies = (of: string) => mailsWith(servers, 'bot@gw.test', idOf(of), 'Sent')
    await until('a copy', async () => (await copies(kept)).length > 0)
    expect(await copies(kept)).toHaveLength(1)
    const request = (of: string) => ({
      to: { integration: 'em', conversation: KATE },
      op: { kind: 'text', text: 'x' } as const,
      key: of,
      seq: 1,
    })
    expect(await scene.adapter.reconcile?.(request(kept))).toMatchObject({
      outcome: 'sent',
      receipt: { platformIds: [idOf(kept)] },
    })
    expect(await scene.adapter.reconcile?.(request(lost))).toEqual({ outcome: 'unknown' })
  })

  it('[I19.out-truth] [I19.fault-plans] taken and then dropped, or never answered, is unknown; the next try has the same id', async () => {
    const scene = await open({ timings: { sendMs: 4_000 } })
    for (const fault of ['accept-then-drop', 'accept-then-silence'] as const) {
      const one = key()
      scene.smtp.set([{ on: 'END OF DATA', do: fault, times: 1 }])
      await expect(scene.send(KATE, { kind: 'text', text: fault }, { key: one })).rejects.toMatchObject({
        code: 'outcome_unknown',
      })
      await scene.send(KATE, { kind: 'text', text: fault }, { key: one })
      await until('both', async () => (await mailsWith(servers, KATE, idOf(one))).length === 2)
    }
    scene.smtp.set([{ on: 'RCPT', do: 'greylist', times: 1 }])
    const grey = await scene.send(KATE, { kind: 'text', text: 'grey' }).catch((thrown: unknown) => thrown)
    expect(grey).toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('450 4.7.1 Greylisted'),
    })
    scene.smtp.set([{ on: 'RCPT', do: 'reject', times: 1 }])
    const refused = await scene.send(KATE, { kind: 'text', text: 'no' }).catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({ code: 'platform_rejected', message: '550 5.1.1 No such user here' })
    await expect(scene.send(KATE, { kind: 'text', text: 'and again' })).resolves.toBeDefined()
  })

  it('[I19.out-starttls] STARTTLS is used, and refused where the server has none; its certificate is checked', async () => {
    const login = {
      host: 'localhost',
      user: 'bot@gw.test',
      password: 'env:MAIL',
      tls: 'starttls',
      port: servers.submission,
    }
    const imap = { ...login, port: servers.imap }
    const good = await open({
      options: { imap: { ...imap, ca: 'env:CA' }, smtp: { ...login, ca: 'env:CA' } },
    })
    await good.start()
    await expect(good.send(KATE, { kind: 'text', text: 'by STARTTLS' })).resolves.toBeDefined()
    const distrusted = await open({ options: { smtp: login } })
    await expect(distrusted.send(KATE, { kind: 'text', text: 'x' })).rejects.toMatchObject({
      code: 'platform_unavailable',
    })
    const refusing = await startRefusingServer()
    const bare = await open({ options: { smtp: { ...login, port: refusing.port } } })
    const refused = await bare.send(KATE, { kind: 'text', text: 'x' }).catch((thrown: unknown) => thrown)
    expect(refused).toMatchObject({
      code: 'platform_unavailable',
      message: expect.stringMatching(/STARTTLS/i),
    })
    await refusing.stop()
  })

  it('[I19.bad-large] a mail over max_mail_bytes is taken with its text and a note; [I19.bad-dates] mails from 1970 and 2100 came now', async () => {
    const scene = await open({ options: { max_mail_bytes: 1_000_000 } })
    await scene.start()
    const head = [PROVEN, 'From: kate@home.test', 'Subject: large']
    const line = 'A'.repeat(76)
    const large = [
      `Message-ID: <large@home.test>`,
      ...head,
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'look at this',
      '--b',
      'Content-Type: application/zip',
      'Content-Transfer-Encoding: base64',
      '',
      ...Array.from({ length: 26_000 }, () => line),
      '--b--',
    ]
    await putMails(servers, 'bot@gw.test', [
      large,
      ['Message-ID: <old@home.test>', 'Date: Thu, 1 Jan 1970 00:00:00 +0000', ...head, '', 'old'],
      ['Message-ID: <new@home.test>', 'Date: Fri, 1 Jan 2100 00:00:00 +0000', ...head, '', 'new'],
    ])
    await until('all three', () => scene.intake.events.length >= 3)
    const [first, ...dated] = scene.intake.events
    expect(first).toMatchObject({
      kind: 'message',
      text: expect.stringMatching(/^look at this\n\n\[This mail has 2 MB, over the 1 MB/),
    })
    for (const event of dated) expect(Math.abs(event.at - Date.now())).toBeLessThan(600_000)
  })

  it('[I19.who-strangers] [S4.default-email] [I19.loop-self] strangers, unproven senders, our own mail and automatic mail are refused, and nothing is sent', async () => {
    const scene = await open({ mayTalk: (sender) => sender === KATE })
    await scene.start()
    const mail = (id: string, ...lines: readonly string[]) => [`Message-ID: ${id}`, ...lines, '', 'hello']
    await putMails(servers, 'bot@gw.test', [
      mail('<s1@evil.test>', PROVEN, 'From: stranger@home.test'),
      mail('<s2@home.test>', 'From: kate@home.test'),
      mail(idOf('o_mine'), PROVEN, 'From: bot@gw.test'),
      mail('<s4@home.test>', PROVEN, 'From: kate@home.test', 'Auto-Submitted: auto-replied'),
      mail('<s5@home.test>', PROVEN, 'From: kate@home.test'),
    ])
    await until('all five', () => scene.intake.events.length >= 5)
    expect(scene.intake.events.map((event) => (event.kind === 'barred' ? event.reason : event.kind))).toEqual(
      ['sender_not_allowed', 'sender_unproven', 'bot_message', 'bot_message', 'message'],
    )
  })
})
