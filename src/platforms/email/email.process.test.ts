// The platform email against real servers, Dovecot and OpenSMTPD, through a proxy that misbehaves: the shared suite,
// and the cases that need a real mailbox. The servers start once for this file.
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { InboundMessage } from '../../contract/index.ts'
import {
  type Delivered,
  describePlatform,
  type PlatformFixture,
} from '../../testing/suites/platform-suite.ts'
import {
  inMailbox,
  mailsWith,
  openScene,
  PROVEN,
  putMails,
  type Scene,
  type SceneOptions,
  until,
  writeMail,
} from './fixtures/email-scene.ts'
import type { ProxyFault } from './fixtures/fault-proxy.ts'
import { type MailServers, startMailServers, withoutServers } from './fixtures/mail-servers.ts'
import { type RefusingServer, startRefusingServer } from './fixtures/refusing-server.ts'

const missing = withoutServers()
let servers: MailServers
let refusing: RefusingServer

beforeAll(async () => {
  if (missing !== null) return
  refusing = await startRefusingServer()
  servers = await startMailServers(refusing.port)
}, 60_000)
afterAll(async () => {
  await servers?.stop()
  await refusing?.stop()
}, 30_000)

const HEAD = ['From: Kate <kate@home.test>', 'To: bot@gw.test', 'Subject: hello']
const MAIL = [PROVEN, ...HEAD, '', 'hello bot']

/** The flags of the mailbox tell whether it was delivered: seen, or not. */
async function deliver(
  scene: Scene,
  lines: readonly string[],
  { to = scene.bot, adapter = scene.adapter } = {},
): Promise<Delivered> {
  await until('the link is up', () => adapter.link?.state().state === 'up')
  const refused = scene.refusals()
  const id = await writeMail(servers, lines, { to })
  const [seen] = [
    await until('it is seen, or refused', async () => {
      if (scene.refusals() > refused) return 'refused'
      const [mail] = await mailsWith(servers, scene.bot, id)
      return mail?.flags.includes('\\Seen') === true && 'seen'
    }),
  ]
  return { acknowledged: seen === 'seen', sentBack: '' }
}

describe('real mail servers', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })
  describePlatform(
    'email',
    async ({ fault, lease }): Promise<PlatformFixture> => {
      const scene = await openScene(servers, {
        // Long enough for everything before the silence, on a busy machine.
        ...(fault === 'silent' ? { timings: { sendMs: 3_000 } } : {}),
        ...(fault === 'down' ? { smtpPort: 1 } : {}),
        ...(lease ? { deps: { lease } } : {}),
      })
      if (fault === 'silent') scene.smtp.set([{ on: 'END OF DATA', do: 'accept-then-silence' }])
      if (fault === 'rejects') scene.smtp.set([{ on: 'RCPT', do: 'reject' }])
      if (fault === 'busy') scene.smtp.set([{ on: 'RCPT', do: 'greylist' }])
      const one = (name: string, lines: readonly string[]) => ({ name, deliver: () => deliver(scene, lines) })
      const attached = [
        PROVEN,
        ...HEAD,
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain',
        '',
        'see there',
        '--b',
        'Content-Type: application/pdf',
        'Content-Disposition: attachment; filename=a.pdf',
        '',
        '%PDF',
        '--b--',
      ]
      return {
        adapter: scene.adapter,
        inbound: [
          one('a mail', MAIL),
          one('an answer', [
            PROVEN,
            ...HEAD,
            'In-Reply-To: <x@home.test>',
            'References: <w@home.test> <x@home.test>',
            '',
            'yes',
          ]),
          one('an attachment', attached),
          one('HTML alone', [PROVEN, ...HEAD, 'Content-Type: text/html', '', '<p>hello</p>']),
          one('an unproven one', [...HEAD, '', 'hello bot']),
        ],
        malformed: [one('two From', [PROVEN, ...HEAD, 'From: other@home.test', '', 'hello'])],
        unverified: [],
        address: { integration: 'em', conversation: 'kate@home.test' },
        planted: [servers.password],
        atNode(another) {
          const adapter = scene.atNode(another)
          return { adapter, inbound: [{ name: 'a mail', deliver: () => deliver(scene, MAIL, { adapter }) }] }
        },
        logLines: scene.logLines,
        close: scene.close,
      }
    },
    {
      faults: ['down', 'silent', 'rejects', 'busy'],
      without: {
        unverified: 'a mailbox is no door of ours: who is not proven is recorded as refused',
        reads: 'what stands in a mail is read at the emulated server, in emulated.test.ts',
        history:
          'a link to a real server cannot be deafened alone: the history suite runs in emulated.test.ts, and see I19.complete below',
      },
    },
  )
})

describe('a real mailbox', () => {
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
  const texts = (scene: Scene) =>
    scene.intake.events.map((event) => (event.kind === 'message' ? event.text : JSON.stringify(event)))
  const took = (scene: Scene, count: number) =>
    until(`${count} events`, () => scene.intake.events.length >= count)
  let said = 0
  const ID = `${process.pid}.${Date.now()}`
  const say = async (text: string, more: readonly string[] = [], bot = 'bot@gw.test') => {
    const id = `<said${++said}.${ID}@home.test>`
    await putMails(servers, bot, [[`Message-ID: ${id}`, PROVEN, ...HEAD, ...more, '', text]])
    return id
  }
  const cursorOf = (scene: Scene) => scene.intake.cursors.at(-1) ?? null

  it('[S7.email-idle] [I19.in-idle] [I19.in-first] a mail comes by IDLE; what lay there before the first connect does not', async () => {
    const old = await say('of yesterday')
    await until('it is there', async () => (await mailsWith(servers, 'bot@gw.test', old)).length > 0)
    const scene = await open({ options: { poll_interval: '10m' } })
    await scene.start()
    await say('first')
    await took(scene, 1)
    await say('second')
    await took(scene, 2)
    expect(texts(scene)).toEqual(['first', 'second'])
    expect(scene.connects()).toBe(1)
    const [seen] = await mailsWith(servers, 'bot@gw.test', old)
    expect(seen?.flags).not.toContain('\\Seen')
  })

  it('[I19.in-poll] where IDLE brings nothing the mailbox is looked at each poll interval', async () => {
    const scene = await open({ options: { poll_interval: '300ms' } })
    // Servers without IDLE, where the client can only poll.
    scene.imap.hide(' IDLE')
    await scene.start()
    await say('polled')
    await took(scene, 1)
    await say('polled again')
    await took(scene, 2)
    expect(texts(scene)).toEqual(['polled', 'polled again'])
  })

  it('[I19.in-cursor] [S2.ack-imap-flag] what came while nobody was there is taken once, in order, from the cursor on; nothing is flagged before the commit', async () => {
    const scene = await open()
    await scene.start()
    await say('one')
    await took(scene, 1)
    const cursor = cursorOf(scene)
    await scene.adapter.stop()
    const ids = [await say('two'), await say('three')]
    await until(
      'both are there',
      async () => (await mailsWith(servers, 'bot@gw.test', ids[1] ?? '')).length > 0,
    )
    const later = await open()
    later.intake.failWith(new Error('the disk is full'))
    await later.adapter.start(later.intake, cursor)
    await until('it was tried', () => later.refusals() > 2)
    for (const id of ids)
      expect((await mailsWith(servers, 'bot@gw.test', id))[0]?.flags).not.toContain('\\Seen')
    later.intake.failWith(null)
    await took(later, 2)
    expect(texts(later)).toEqual(['two', 'three'])
    await until('they are seen', async () =>
      (await mailsWith(servers, 'bot@gw.test', ids[1] ?? ''))[0]?.flags.includes('\\Seen'),
    )
  })

  it('[I19.in-after] a keyword and another folder afterwards; an interrupted after-care is made up for at the next start', async () => {
    const options = { after: { seen: false, keyword: 'Taken', move_to: 'Archive/Done' } }
    const scene = await open({ options })
    await scene.start()
    const id = await say('to be moved', [
      'Content-Type: multipart/mixed; boundary=b',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'to be moved',
      '--b',
      'Content-Type: text/csv; name=a.csv',
      'Content-Disposition: attachment; filename=a.csv',
      '',
      'a,b',
      '--b--',
    ])
    await took(scene, 1)
    const moved = await until(
      'it was moved',
      async () => (await mailsWith(servers, 'bot@gw.test', id, 'Archive/Done').catch(() => []))[0],
    )
    expect(moved.flags).toContain('Taken')
    expect(moved.flags).not.toContain('\\Seen')
    expect(await mailsWith(servers, 'bot@gw.test', id)).toEqual([])
    // [I19.parse-fetch]: it is found in the folder that it was moved to.
    const [event] = scene.intake.events
    const [file] = event?.kind === 'message' ? (event.attachments ?? []) : []
    const kept = file === undefined ? undefined : await scene.adapter.files?.download?.(file)
    expect(kept?.name).toBe('a.csv')
    expect(readFileSync(kept?.path ?? '', 'utf8').trim()).toBe('a,b')
    await scene.adapter.stop()
    // As if it had died between the commit and the flags.
    const plain = await open()
    await plain.start()
    const second = await say('interrupted')
    await took(plain, 1)
    await until('seen', async () =>
      (await mailsWith(servers, 'bot@gw.test', second))[0]?.flags.includes('\\Seen'),
    )
    const cursor = cursorOf(plain)
    await plain.adapter.stop()
    await inMailbox(servers, 'bot@gw.test', async (client) => {
      const [mail] = (await client.search({ header: { 'message-id': second } }, { uid: true })) || []
      await client.messageFlagsRemove(String(mail), ['\\Seen'], { uid: true })
    })
    const again = await open()
    await again.start(cursor)
    await until('seen again', async () =>
      (await mailsWith(servers, 'bot@gw.test', second))[0]?.flags.includes('\\Seen'),
    )
    expect(again.intake.events).toEqual([])
  })

  it('[I19.in-renumbered] a renumbered mailbox is walked again: what is known comes with the same key, what is older than the first connect not at all', async () => {
    const bot = 'renumbered@gw.test'
    const before = await say('before the first connect', [], bot)
    await until('it is there', async () => (await mailsWith(servers, bot, before)).length > 0)
    // Servers count arrivals in seconds.
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    const scene = await open({ bot })
    await scene.start()
    const id = await say('one', [], bot)
    await took(scene, 1)
    const cursor = cursorOf(scene)
    await scene.adapter.stop()
    await servers.renumber(bot)
    const fresh = await say('two', [], bot)
    await until('it is there', async () => (await mailsWith(servers, bot, fresh)).length > 0)
    const again = await open({ bot })
    await again.start(cursor)
    await took(again, 2)
    const ids = again.intake.events.map(({ messageId }) => messageId)
    expect(new Set(ids)).toEqual(new Set([id, fresh]))
  })

  it('[I19.in-thousand] 1,000 mails of a downtime are taken once each', async () => {
    const bot = 'many@gw.test'
    const scene = await open({ bot })
    await scene.start()
    const cursor = cursorOf(scene)
    await scene.adapter.stop()
    const thousand = Array.from({ length: 1_000 }, (_, at) => [
      `Message-ID: <many${at}@home.test>`,
      PROVEN,
      ...HEAD,
      '',
      `mail ${at}`,
    ])
    await servers.lay(bot, thousand)
    const again = await open({ bot })
    await again.start(cursor)
    await until('all of them', () => again.intake.events.length >= 1_000, 60_000)
    await until('the last one is seen', async () =>
      (await mailsWith(servers, bot, '<many999@home.test>'))[0]?.flags.includes('\\Seen'),
    )
    expect(texts(again).sort()).toEqual(thousand.map((lines) => String(lines.at(-1))).sort())
  }, 120_000)

  const PLANS: readonly (readonly [
    string,
    { readonly on: string; readonly do: ProxyFault; readonly times: number },
  ])[] = [
    ['drop', { on: 'UID FETCH', do: 'drop', times: 2 }],
    ['stall', { on: 'UID FETCH', do: 'stall', times: 1 }],
    ['half-open', { on: 'UID FETCH', do: 'half-open', times: 1 }],
    ['a truncated FETCH', { on: 'UID FETCH', do: 'truncate', times: 2 }],
    ['BYE in IDLE', { on: 'IDLE', do: 'bye', times: 2 }],
    ['a dropped STORE', { on: 'UID STORE', do: 'drop', times: 1 }],
    ['a dropped SEARCH', { on: 'UID SEARCH', do: 'drop', times: 2 }],
  ]
  it.each(PLANS)(
    '[I19.fault-plans] [I19.live] in: %s loses nothing and doubles nothing',
    async (_name, rule) => {
      const scene = await open({ timings: { commandMs: 400 } })
      await scene.start()
      scene.imap.set([rule])
      for (const text of ['one', 'two', 'three']) await say(text)
      await until('all three', () => new Set(scene.intake.events.map(({ messageId }) => messageId)).size >= 3)
      await until('it happened', () => scene.imap.fired() > 0)
      await until('the link is up', () => scene.adapter.link?.state().state === 'up')
      const last = await say('four')
      await until('the next one', () => scene.intake.events.some(({ messageId }) => messageId === last))
      expect([...new Set(texts(scene))]).toEqual(['one', 'two', 'three', 'four'])
      expect(scene.intake.events).toHaveLength(4)
      expect(scene.imap.open()).toBeLessThanOrEqual(2)
    },
  )

  it('[I19.live] a connection that is frozen while it idles is found and replaced, and a mail that always breaks it holds up nobody', async () => {
    const scene = await open({ options: { poll_interval: '200ms' }, timings: { commandMs: 300 } })
    await scene.start()
    scene.imap.set([{ on: 'UID SEARCH', do: 'half-open', times: 1 }])
    await until('a new connection', () => scene.connects() >= 2)
    expect(await scene.adapter.link?.probe?.()).toBe('hears')
    await say('first')
    await took(scene, 1)
  })

  it('[I19.complete] the mailbox is a history: what the live link missed stands in it with the same key', async () => {
    const scene = await open()
    await scene.start()
    const since = Date.now() - 5_000
    const id = await say('missed')
    await took(scene, 1)
    const [place] = (await scene.adapter.history?.places({ since }))?.places ?? []
    expect(place).toMatchObject({ id: 'INBOX' })
    if (place === undefined) throw new Error('no place')
    const page = await scene.adapter.history?.read({ place, after: null, since, limit: 200 })
    const entries = page !== undefined && 'entries' in page ? page.entries : []
    const found = entries.find(({ event }) => event?.messageId === id)
    const [live] = scene.intake.events
    expect(found?.event).toMatchObject({
      conversation: live?.conversation,
      thread: (live as InboundMessage).thread,
      text: 'missed',
    })
    const next = await scene.adapter.history?.read({
      place,
      after: found?.position ?? null,
      since,
      limit: 200,
    })
    expect(next).toMatchObject({ entries: [], more: false })
  })

  it('[I19.bounce] a real bounce comes back as a report on its row, with the server’s words', async () => {
    const scene = await open()
    await scene.start()
    const one = `o_bounced${process.pid}`
    await scene.send('nobody@gone.test', { kind: 'text', text: 'hello' }, { key: one })
    const report = await until('the bounce', () =>
      scene.intake.events.find((event) => event.kind === 'report'),
    )
    expect(report).toMatchObject({
      send: one,
      outcome: 'failed',
      detail: expect.stringContaining('550 5.1.1 nobody of that name lives here'),
    })
    // A bounce that names no mail of ours settles nothing.
    const before = scene.intake.events.length
    await putMails(servers, 'bot@gw.test', [
      [
        'Return-Path: <>',
        'From: mailer-daemon@mx.test',
        'Subject: Undelivered',
        'Message-ID: <b1@mx.test>',
        '',
        'Message-ID: <swb.o_x@other.test>',
      ],
    ])
    const other = await until('the next', () => scene.intake.events[before])
    expect(other).toMatchObject({ kind: 'barred', reason: 'bot_message' })
  })
})
