// Mails that try to replace other mails, to stop the reader, or to forge bounces of our mails. They run against the
// fake mail provider, with the worker that reads mails.
import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { InboundEvent, InputTries } from '../../contract/index.ts'
import { createFakeMail } from '../../testing/email/fake-mail.ts'
import { openScene, type Scene, type SceneOptions, until } from './fixtures/email-scene.ts'
import { createMessageIds } from './mail/message-ids.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const KATE = 'kate@home.test'
const ids = createMessageIds('emulated.test')

async function open(more: SceneOptions = {}) {
  const fake = await createFakeMail()
  closing.push(() => fake.stop())
  const servers = { imap: fake.imapPort, submission: fake.smtpPort, password: fake.password, ca: '' }
  const scene = await openScene(servers, {
    bot: fake.bot,
    mayTalk: (sender) => sender === KATE,
    ...more,
    options: { authserv_id: fake.authservId, results_below_received: false, ...more.options },
  })
  closing.push(() => scene.close())
  await scene.start()
  const inbox = fake.world.mailbox(fake.bot).folders.get('INBOX')
  if (inbox === undefined) throw new Error('no inbox')
  return {
    fake,
    scene,
    proven: `Authentication-Results: ${fake.authservId}; dmarc=pass header.from=home.test`,
    put(...lines: readonly string[]) {
      fake.world.append(inbox, { raw: Buffer.from(lines.join('\r\n')) })
    },
    took: (count: number): Promise<readonly InboundEvent[]> =>
      until(`${count} events`, () => scene.intake.events.length >= count && scene.intake.events),
  }
}
const keys = (events: readonly InboundEvent[]) => new Set(events.map(({ messageId }) => messageId)).size
const kinds = (events: readonly InboundEvent[]) =>
  events.map((event) => (event.kind === 'barred' ? event.reason : event.kind))

describe('what a mail is known by', () => {
  it('[I35.b4] a forged mail and a list copy take no key of the genuine one', async () => {
    const { put, proven, took } = await open({ options: { verify_dkim: false } })
    const head = ['Message-ID: <one@home.test>', `From: Kate <${KATE}>`, 'Subject: hello']
    put(...head, '', 'forged')
    put(proven, ...head, 'List-Id: <all.list.test>', '', 'a copy from the list')
    put(proven, ...head, '', 'genuine')
    const events = await took(3)
    expect(kinds(events)).toEqual(['sender_unproven', 'bot_message', 'message'])
    expect(keys(events)).toBe(3)
    expect(events[2]).toMatchObject({ messageId: '<one@home.test>', text: 'genuine' })
  })

  it('[I35.b4] a mail without an id is known by all of it, also where it lies after a renumbering', async () => {
    const { put, proven, took, fake } = await open()
    const head = [proven, `From: ${KATE}`, 'Subject: the daily report']
    put(...head, '', 'all is well')
    put(...head, '', 'the disk is full')
    const events = await took(2)
    expect(kinds(events)).toEqual(['message', 'message'])
    expect(keys(events)).toBe(2)
    const before = events.map(({ messageId }) => messageId)
    fake.world.renumber(fake.bot)
    fake.cut()
    const again = await took(4)
    expect(again.slice(2).map(({ messageId }) => messageId)).toEqual(before)
  })

  it('[I35.b4] where no proof is asked for, two mails under one id are two', async () => {
    const { put, took, scene } = await open({ options: { require_auth_results: false } })
    const head = ['Message-ID: <one@home.test>', `From: ${KATE}`]
    put(...head, '', 'one')
    put(...head, '', 'two')
    const events = await took(2)
    expect(keys(events)).toBe(2)
    expect(events).toMatchObject([
      { text: 'one', thread: '<one@home.test>' },
      { text: 'two', thread: '<one@home.test>' },
    ])
    expect(scene.intake.events.every((event) => event.messageId?.startsWith('<one@home.test> '))).toBe(true)
  })
})

describe('a mail that breaks its reader', () => {
  const broken = (tries: number): InputTries => ({ begin: async () => tries, end: async () => undefined })

  it('[I35.b9] is refused as unparsable once it was tried twice, and the next one is read', async () => {
    let tries = broken(3)
    const { put, proven, took } = await open({
      deps: { tries: { begin: (input) => tries.begin(input), end: (input) => tries.end(input) } },
    })
    put(proven, 'Message-ID: <bomb@home.test>', `From: ${KATE}`, '', 'boom')
    const [first] = await took(1)
    expect(first).toMatchObject({
      kind: 'unparsable',
      sender: { id: KATE },
      problem: expect.stringContaining('could not be read in two tries'),
    })
    // It does not take the key of a readable mail.
    expect(first?.messageId).not.toBe('<bomb@home.test>')
    tries = broken(1)
    put(proven, 'Message-ID: <next@home.test>', `From: ${KATE}`, '', 'hello')
    expect((await took(2))[1]).toMatchObject({ kind: 'message', text: 'hello' })
  })

  it('[I35.b5] a stranger’s report is not looked into, unless it names a mail that we signed', async () => {
    let begun = 0
    const tries: InputTries = {
      async begin() {
        begun += 1
        return 1
      },
      end: async () => undefined,
    }
    const { put, took } = await open({ deps: { tries } })
    const empty = '\n'.repeat(1_000_000)
    const shapes = [
      ['From: mailer-daemon@evil.test'],
      ['Return-Path: <>', 'From: mallory@evil.test'],
      ['From: mallory@evil.test', 'Content-Type: multipart/report; boundary=b'],
    ]
    for (const [at, head] of shapes.entries()) put(`Message-ID: <e${at}@evil.test>`, ...head, '', empty)
    const events = await took(3)
    expect(kinds(events)).toEqual(['bot_message', 'bot_message', 'sender_not_allowed'])
    expect(begun).toBe(0)
    // Line feeds around a mail of ours break a worker, not the daemon.
    put(
      'From: mailer-daemon@mx.test',
      'Subject: failure notice',
      '',
      `x@gone.test: 550 no ${ids.of('o_a_1')}`,
      empty,
    )
    expect((await took(4))[3]).toMatchObject({ kind: 'report', send: 'o_a_1' })
    expect(begun).toBe(1)
  })
})

describe('a report on a mail of ours', () => {
  const dsn = (scene: Pick<Scene, 'bot'>, id: string, recipient: string) => [
    'Return-Path: <>',
    'From: mailer-daemon@mx.test',
    `To: ${scene.bot}`,
    'Subject: Undelivered Mail Returned to Sender',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.test',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    '--b',
    'Content-Type: text/rfc822-headers',
    '',
    `Message-ID: ${id}`,
    '--b--',
  ]

  it('[I35.b8] names whose mail it was, and is none without our signature', async () => {
    const { put, took, scene } = await open()
    put(...dsn(scene, ids.of('o_a_1'), 'X@gone.test'))
    put(...dsn(scene, ids.of('o_a_1').replace('o_a_1', 'o_a_2'), 'x@gone.test'))
    put(...dsn(scene, '<swb.o_a_1@emulated.test>', 'x@gone.test'))
    const events = await took(3)
    expect(kinds(events)).toEqual(['report', 'bot_message', 'bot_message'])
    expect(events[0]).toMatchObject({ send: 'o_a_1', outcome: 'failed', sentTo: ['x@gone.test'] })
  })

  it('[I35.b8] is none where only our domain was known to whoever made the id, and not our key', async () => {
    const sign = (text: string) => createHmac('sha256', 'a key of ours').update(text).digest('hex')
    const { put, took, scene } = await open({ deps: { sign } })
    put(...dsn(scene, ids.of('o_a_1'), 'x@gone.test'))
    put(...dsn(scene, createMessageIds('emulated.test', sign).of('o_a_1'), 'x@gone.test'))
    expect(kinds(await took(2))).toEqual(['bot_message', 'report'])
  })

  it('[I35.b8] an out-of-office note with an empty Return-Path is none', async () => {
    const { put, took } = await open()
    put(
      'Return-Path: <>',
      `From: ${KATE}`,
      `In-Reply-To: ${ids.of('o_a_1')}`,
      'Subject: I am away',
      '',
      'until Monday',
    )
    expect(kinds(await took(1))).toEqual(['bot_message'])
  })
})

describe('a forged Authentication-Results header', () => {
  it('[I35.b10] below the topmost Received is not believed; the refusal and doctor name the key', async () => {
    const { put, proven, took, scene } = await open({ options: { verify_dkim: false } })
    put('Received: from evil.test by mx.emulated.test', proven, `From: ${KATE}`, 'Message-ID: <f@x>', '', 'x')
    const [event] = await took(1)
    expect(event).toMatchObject({
      reason: 'sender_unproven',
      key: expect.stringMatching(/^results_below_received: the results of mx\.emulated\.test stand below/),
    })
    expect(scene.adapter.checks?.gates?.()).toMatchObject([
      { pass: false, key: expect.stringMatching(/\.results_below_received$/) },
    ])
  })

  it('[I35.mail-counted] is counted once, however often link and history read the mail', async () => {
    const { put, proven, took, scene } = await open({ options: { verify_dkim: false } })
    const received = 'Received: from evil.test by mx.emulated.test'
    const reasons = () =>
      (scene.adapter.checks?.gates?.() ?? []).map((gate) => ('reason' in gate ? gate.reason : ''))
    const walk = () =>
      scene.adapter.history?.read({ place: { id: 'INBOX' }, after: null, since: 0, limit: 100 })
    put(received, proven, `From: ${KATE}`, 'Message-ID: <f@x>', '', 'x')
    await took(1)
    await walk()
    await walk()
    expect(reasons()).toEqual([expect.stringMatching(/^1 mail was refused:/)])
    put(received, proven, `From: ${KATE}`, 'Message-ID: <f@x>', '', 'another with that id')
    await took(2)
    expect(reasons()).toEqual([expect.stringMatching(/^2 mails were refused:/)])
  })

  it('[I35.b10] is mailed by doctor --security --send-test, which says whether it was believed, and is taken away', async () => {
    const trusting = await open({ options: { results_below_received: true } })
    const inbox = () => trusting.fake.world.mailbox(trusting.fake.bot).folders.get('INBOX')?.mails ?? []
    // The emulated server writes its own results above. The forged header stays where it does not count.
    expect(await trusting.scene.adapter.checks?.trial?.()).toEqual({
      found: [],
      told: ['a forged Authentication-Results header was not believed: it stands where it does not count'],
    })
    expect(inbox()).toHaveLength(0)
    trusting.fake.world.results(false)
    expect(await trusting.scene.adapter.checks?.trial?.()).toMatchObject({
      found: [
        { severity: 'high', key: 'results_below_received', what: expect.stringContaining('is believed') },
      ],
    })
    const strict = await open()
    strict.fake.world.results(false)
    expect((await strict.scene.adapter.checks?.trial?.())?.found).toEqual([])
  })
})
