// The platform email against the fake mail provider of `switchboard emulate email`, for cases that need a driven clock,
// a lease, or the requests that the servers received. email.process.test.ts has the real servers.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { PlatformDeps, TranscriptEntry } from '../../contract/index.ts'
import { createFakeMail, type FakeMailServers } from '../../testing/email/fake-mail.ts'
import type { FaultRule } from '../../testing/faults/fault-plan.ts'
import { checkHistory, checkNoSuchPlace } from '../../testing/suites/history-suite.ts'
import { describePlatform } from '../../testing/suites/platform-suite.ts'
import { createTestClock } from '../../testing/test-clock.ts'
import { openScene, type Scene, type SceneOptions, until } from './fixtures/email-scene.ts'
import { createMessageIds } from './mail/message-ids.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(more: SceneOptions = {}, given?: FakeMailServers) {
  const fake = given ?? (await createFakeMail())
  if (given === undefined) closing.push(() => fake.stop())
  const servers = { imap: fake.imapPort, submission: fake.smtpPort, password: fake.password, ca: '' }
  const scene = await openScene(servers, {
    bot: fake.bot,
    ...more,
    options: { authserv_id: fake.authservId, ...more.options },
  })
  closing.push(() => scene.close())
  return { fake, scene }
}
const took = (scene: Scene, count: number) =>
  until(`${count} events`, () => scene.intake.events.length >= count)
const texts = (scene: Scene) =>
  scene.intake.events.map((event) => (event.kind === 'message' ? event.text : JSON.stringify(event)))

const IN_PROCESS = 'real servers play it, in email.process.test.ts'
describePlatform(
  'email at the emulated servers',
  async ({ lease }) => {
    const { fake, scene } = await open(lease ? { deps: { lease } } : {})
    /** The flags of the mailbox tell whether it was delivered: seen, or not. */
    const greeting = ({ adapter }: Pick<Scene, 'adapter'>) => ({
      name: 'a mail',
      async deliver() {
        await until('the link is up', () => adapter.link?.state().state === 'up')
        const refused = scene.refusals()
        const id = await fake.kate.writes('hello', { fresh: true })
        const isSeen = () => {
          const mails = fake.world.mailbox(fake.bot).folders.get('INBOX')?.mails ?? []
          return mails.some(({ flags, raw }) => flags.has('\\Seen') && raw.includes(id))
        }
        await until('it is seen, or refused', () => isSeen() || scene.refusals() > refused)
        return { acknowledged: isSeen(), sentBack: '' }
      },
    })
    return {
      adapter: scene.adapter,
      inbound: [greeting(scene)],
      malformed: [],
      unverified: [],
      address: { integration: 'em', conversation: 'kate@home.test' },
      reads: async () => (await fake.kate.reads()).at(-1)?.text ?? '',
      planted: [fake.password],
      logLines: scene.logLines,
      atNode(another) {
        const adapter = scene.atNode(another)
        return { adapter, inbound: [greeting({ adapter })] }
      },
      close: async () => undefined,
    }
  },
  {
    faults: [],
    without: {
      malformed: IN_PROCESS,
      unverified: 'a mailbox is no door of ours: who is not proven is recorded as refused',
      history: 'the mailbox as a history is below',
      down: IN_PROCESS,
      silent: IN_PROCESS,
      rejects: IN_PROCESS,
      busy: IN_PROCESS,
    },
  },
)

describe('the emulated mailbox', () => {
  it('[I19.emulate] a mail comes by IDLE without its quote, an answer goes out and is kept in Sent, and a refused address is told', async () => {
    const { fake, scene } = await open({ options: { poll_interval: '10m' } })
    await scene.start()
    await fake.kate.writes('hello')
    await took(scene, 1)
    await scene.send('kate@home.test', { kind: 'text', text: '**Hi** Kate' })
    const [answer] = await fake.kate.reads()
    expect(answer).toMatchObject({ from: fake.bot, text: 'Hi Kate' })
    await fake.kate.writes('and again', { file: { name: 'a.csv', content: 'a,b' } })
    await took(scene, 2)
    expect(texts(scene)).toEqual(['hello', 'and again'])
    const [first, second] = scene.intake.events
    expect(second).toMatchObject({
      replyTo: { messageId: answer?.id },
      attachments: [{ name: 'a.csv' }, { name: 'original.txt' }],
    })
    expect(first).toMatchObject({
      meta: { subject: 'Hello' },
      sender: { id: 'kate@home.test', name: 'Kate' },
    })
    const folder = (name: string) => fake.world.mailbox(fake.bot).folders.get(name)?.mails ?? []
    await until('the copy in Sent', () => folder('Sent').length > 0)
    await until('it is seen', () => folder('INBOX')[0]?.flags.has('\\Seen'))
    expect(folder('Sent')).toHaveLength(1)
    await expect(scene.send('nobody@home.test', { kind: 'text', text: 'x' })).rejects.toMatchObject({
      code: 'platform_rejected',
      message: expect.stringContaining('nobody of that name lives here'),
    })
    expect(scene.connects()).toBe(1)
  })

  it('[I19.emulate] folders, moves and a renumbered mailbox are as with a real server', async () => {
    const { fake, scene } = await open({
      options: { after: { seen: true, keyword: 'Taken', move_to: 'Done' } },
    })
    await scene.start()
    await fake.kate.writes('to be moved', { file: { name: 'a.txt', content: 'inside' } })
    await took(scene, 1)
    const moved = await until(
      'it was moved',
      () => fake.world.mailbox(fake.bot).folders.get('Done')?.mails[0],
    )
    expect([...moved.flags].sort()).toEqual(['Taken', '\\Seen'])
    const [event] = scene.intake.events
    const [file] = event?.kind === 'message' ? (event.attachments ?? []) : []
    if (file === undefined) throw new Error('no file')
    expect(readFileSync((await scene.adapter.files?.download?.(file))?.path ?? '', 'utf8')).toBe('inside')
    const cursor = scene.intake.cursors.at(-1) ?? null
    await scene.adapter.stop()
    fake.world.renumber(fake.bot)
    const { scene: again } = await open({}, fake)
    await fake.kate.writes('after it', { fresh: true })
    await again.start(cursor)
    await took(again, 1)
    expect(texts(again)).toEqual(['after it'])
  })

  const PLANS: readonly FaultRule[] = [
    { on: 'UID FETCH', do: 'drop-request', times: 1 },
    { on: 'UID FETCH', do: 'drop-response', times: 2 },
    { on: 'UID FETCH', do: 'half-open', times: 1 },
    { on: 'UID FETCH', do: 'malformed', times: 1 },
    { on: 'UID SEARCH', do: 'error', times: 2 },
    { on: 'UID SEARCH', do: 'rate-limit', times: 2 },
    { on: 'UID STORE', do: 'drop-response', times: 1 },
    { on: 'SELECT', do: 'deaf', times: 1 },
    { on: 'IDLE', do: 'drop-request', times: 2 },
    { on: 'IDLE', do: 'deaf-link', times: 1 },
    { on: 'UID SEARCH', do: 'slow', delayMs: 100, times: 2 },
  ]
  it.each(PLANS)('[I19.emulate] [I19.fault-plans] %o loses nothing and doubles nothing', async (rule) => {
    const { fake, scene } = await open({ options: { poll_interval: '300ms' }, timings: { commandMs: 500 } })
    await scene.start()
    fake.plan([rule])
    scene.adapter.link?.renew?.('a test')
    for (const text of ['one', 'two', 'three']) await fake.kate.writes(text, { fresh: true })
    await until('it happened', () => fake.fired().length > 0)
    await took(scene, 3)
    await until('the link is up', () => scene.adapter.link?.state().state === 'up')
    await fake.kate.writes('four', { fresh: true })
    await took(scene, 4)
    expect(texts(scene)).toEqual(['one', 'two', 'three', 'four'])
    expect(fake.open().imap).toBeLessThanOrEqual(2)
  })

  it('[I19.out-truth] [I19.emulate] taken and then dropped is unknown, also to Sent where the copy is ours to keep; every try has one id', async () => {
    const { fake, scene } = await open({ timings: { sendMs: 500 } })
    fake.plan([{ on: 'END OF DATA', do: 'drop-response', times: 1 }])
    const op = { kind: 'text', text: 'once' } as const
    const to = { integration: 'em', conversation: 'kate@home.test' }
    await expect(scene.send('kate@home.test', op, { key: 'o_lost1' })).rejects.toMatchObject({
      code: 'outcome_unknown',
    })
    expect(await scene.adapter.reconcile?.({ to, op, key: 'o_lost1', seq: 1 })).toEqual({
      outcome: 'unknown',
    })
    await scene.send('kate@home.test', op, { key: 'o_lost1' })
    await until('the copy in Sent', () => fake.world.mailbox(fake.bot).folders.get('Sent')?.mails.length)
    expect(await scene.adapter.reconcile?.({ to, op, key: 'o_lost1', seq: 1 })).toMatchObject({
      outcome: 'sent',
    })
    expect(new Set((await fake.kate.reads()).map(({ id }) => id))).toEqual(
      new Set([createMessageIds('emulated.test').of('o_lost1')]),
    )
  })
})

describe('the mailbox as a history', () => {
  it('[I15.suite-history] [I19.complete] a deaf link: the mailbox has what it did not bring, under the ids of the link', async () => {
    const { fake, scene } = await open({ options: { poll_interval: '10m' } })
    await scene.start()
    await until('it idles', () => fake.commands.includes('IDLE'))
    // From the next IDLE on, nothing is announced.
    fake.plan([{ on: 'IDLE', do: 'deaf-link' }])
    const reader = scene.adapter.history
    if (reader === undefined) throw new Error('no history')
    const heard = async (text: string) => {
      await fake.kate.writes(text, { fresh: true })
      await took(scene, 1)
      await until('it is deaf', () => fake.fired().length > 0)
    }
    const missed = async (text: string) => void (await fake.kate.writes(text, { fresh: true }))
    await checkHistory(reader, { heard, missed }, () => scene.intake.events)
    await checkNoSuchPlace(reader)
    expect(scene.connects()).toBe(1)
  })
})

describe('one node reads', () => {
  it('[I19.in-lease] without the lease there is no connection; with it one, none after it is lost, and what came meanwhile is taken by the next holder', async () => {
    let held = false
    const clock = createTestClock(Date.now())
    const lease = { take: async () => held, release: async () => undefined }
    const { fake, scene } = await open({
      deps: { lease },
      clock,
      timings: { commandMs: 600_000, connectMs: 600_000 },
    })
    const when = (what: string, is: () => boolean) =>
      until(what, () => {
        void clock.advance(5_000)
        return is()
      })
    await scene.adapter.start(scene.intake, null)
    await when('it waits', () => scene.adapter.link?.state().state === 'waiting')
    expect(fake.open().imap).toBe(0)
    held = true
    await when('it reads', () => scene.adapter.link?.state().state === 'up')
    await fake.kate.writes('one')
    await when('it is taken', () => scene.intake.events.length === 1)
    held = false
    await when('it lets go', () => fake.open().imap === 0)
    await fake.kate.writes('two')
    const asked = fake.commands.length
    for (let second = 0; second < 30; second++) await clock.advance(1_000)
    expect(fake.commands).toHaveLength(asked)
    const { scene: other } = await open({}, fake)
    await other.start(scene.intake.cursors.at(-1) ?? null)
    await took(other, 1)
    expect(texts(other)).toEqual(['two'])
    expect(texts(scene)).toEqual(['one'])
  })
})

describe('attachments', () => {
  it('[I19.parse-fetch] nothing of a stranger’s file is fetched; of an allowed sender a reference, and the bytes when they are asked for', async () => {
    const { fake, scene } = await open({ mayTalk: (sender) => sender === 'kate@home.test' })
    await scene.start()
    const file = { name: '../../etc/passwd', content: 'x'.repeat(200_000), mime: 'application/pdf' }
    const fetches = () => fake.commands.filter((name) => name === 'UID FETCH').length
    await fake.person('mallory@home.test').writes('open this', { file })
    await took(scene, 1)
    expect(scene.intake.events[0]).toMatchObject({ kind: 'barred', reason: 'sender_not_allowed' })
    // One listing with the headers, and no more.
    expect(fetches()).toBe(1)
    await fake.kate.writes('and this', { file })
    await took(scene, 2)
    const [, event] = scene.intake.events
    const [ref] = event?.kind === 'message' ? (event.attachments ?? []) : []
    expect(ref).toMatchObject({
      name: expect.not.stringContaining('/'),
      mime: 'application/pdf',
      size: 200_000,
    })
    expect(readdirSync(scene.filesDir)).toEqual([])
    if (ref === undefined) throw new Error('no file')
    const kept = await scene.adapter.files?.download?.(ref)
    expect(kept).toMatchObject({ size: 200_000, mime: 'application/pdf' })
    expect(kept?.path.startsWith(scene.filesDir)).toBe(true)
    for (const forged of ['x', ref.ref.replace(/<.*>/, '<other@home.test>'), ref.ref.replace(/ 0 /, ' 7 ')])
      await expect(scene.adapter.files?.download?.({ ...ref, ref: forged })).rejects.toMatchObject({
        code: 'not_found',
      })
  })

  it('[I19.parse-fetch] of a mail over the cap no file is taken, and it is said', async () => {
    const { fake, scene } = await open({ options: { max_mail_bytes: 65_536 } })
    await scene.start()
    await fake.kate.writes('see there', { file: { name: 'big.bin', content: 'x'.repeat(200_000) } })
    await took(scene, 1)
    const [event] = scene.intake.events
    expect(event).toMatchObject({ text: expect.stringMatching(/^see there\n\n\[This mail has 0 MB, over/) })
    expect(event).not.toHaveProperty('attachments')
  })
})

describe('OAuth2', () => {
  it('[I19.out-oauth] both servers are signed in to by token; one that ends while mail is awaited is replaced, and nothing is lost', async () => {
    const asked: string[] = []
    const isToken = (token: string) => token === `access-${asked.length}`
    const endpoint = createServer((request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk
      })
      request.on('end', () => {
        asked.push(body)
        response.end(JSON.stringify({ access_token: `access-${asked.length}`, expires_in: 3_600 }))
      })
    })
    await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
    closing.push(() => new Promise((resolve) => void endpoint.close(() => resolve())))
    const fake = await createFakeMail({ isToken })
    closing.push(() => fake.stop())
    const { port } = endpoint.address() as AddressInfo
    const server = (to: number) => ({ host: '127.0.0.1', port: to, tls: false })
    const { scene } = await open(
      {
        secrets: { 'env:REFRESH': 'planted-refresh-token' },
        options: {
          imap: server(fake.imapPort),
          smtp: server(fake.smtpPort),
          poll_interval: '300ms',
          oauth2: {
            token_url: `http://127.0.0.1:${port}/token`,
            client_id: 'app',
            refresh_token: 'env:REFRESH',
          },
        },
      },
      fake,
    )
    await scene.start()
    await fake.kate.writes('one')
    await took(scene, 1)
    await scene.send('kate@home.test', { kind: 'text', text: 'by token' })
    expect((await fake.kate.reads()).map(({ text }) => text)).toEqual(['by token'])
    expect(asked).toHaveLength(1)
    expect(asked[0]).toContain('refresh_token=planted-refresh-token')
    // The provider revokes the token, and ends the connections that used it.
    asked.push('taken back')
    fake.cut()
    await fake.kate.writes('two', { fresh: true })
    await took(scene, 2)
    await scene.send('kate@home.test', { kind: 'text', text: 'again' }).catch(() => undefined)
    await scene.send('kate@home.test', { kind: 'text', text: 'again' }, { key: 'o_again1' })
    expect(asked.length).toBeGreaterThanOrEqual(3)
    expect(texts(scene)).toEqual(['one', 'two'])
    expect(JSON.stringify(scene.logLines())).not.toMatch(/planted-refresh|access-\d/)
  })
})

describe('loops', () => {
  it('[I19.loop-limit] at most answers_per_hour go to one address in an hour; others are not held up, and what is more goes when the hour is over', async () => {
    const clock = createTestClock(Date.now())
    const { scene } = await open({ options: { answers_per_hour: 3 }, clock })
    await scene.start()
    const take = (to: string) => scene.adapter.pace?.take(to, false)
    for (let sent = 0; sent < 3; sent++) expect(take('loop@home.test')).toBe(0)
    expect(take('loop@home.test')).toBe(3_600_000)
    expect(take('kate@home.test')).toBe(0)
    await clock.advance(1_800_000)
    expect(take('loop@home.test')).toBe(1_800_000)
    await clock.advance(1_800_000)
    expect(take('loop@home.test')).toBe(0)
  })

  it('[I19.loop-limit] a restart forgets none of them: what was sent in the hour before counts, what failed and what is older does not', async () => {
    const clock = createTestClock(Date.now())
    const sent = (seq: number, minutesAgo: number, state = 'sent'): TranscriptEntry => ({
      ...{ seq, direction: 'out', id: `o_t_${seq}`, conversation: 'loop@home.test' },
      ...{ at: clock.now() - minutesAgo * 60_000, text: '', state, reason: null },
    })
    const said = [sent(1, 90), sent(2, 40, 'unknown'), sent(3, 30, 'failed'), sent(4, 20), sent(5, 10)]
    // Pages like the store: the newest before a position.
    const transcript: PlatformDeps['transcript'] = async ({ beforeSeq = 6, limit }) =>
      said.filter(({ seq }) => seq < beforeSeq).slice(-limit)
    const { scene } = await open({ options: { answers_per_hour: 3 }, clock, deps: { transcript } })
    // Nothing is sent until the earlier sends are known.
    expect(scene.adapter.pace?.take('loop@home.test', false)).toBeGreaterThan(0)
    await scene.start()
    const take = (to: string) => scene.adapter.pace?.take(to, false)
    expect(take('loop@home.test')).toBe(20 * 60_000)
    expect(take('kate@home.test')).toBe(0)
    await clock.advance(20 * 60_000)
    expect(take('loop@home.test')).toBe(0)
    expect(take('loop@home.test')).toBe(20 * 60_000)
  })
})

describe('prompts', () => {
  const ask = {
    kind: 'prompt',
    approval: 'abcde',
    text: 'demo wants to run Deploy\n\nReply "yes abcde" or "no abcde"',
    choices: [],
  } as const

  it('[I19.approval-link] a prompt links to the console where there is a public address, and nowhere else', async () => {
    const { fake, scene } = await open({ deps: { publicUrl: 'https://sb.example.org/' } })
    await scene.send('kate@home.test', ask as never)
    const [shown] = await fake.kate.reads()
    expect(shown?.text).toContain('Reply "yes abcde" or "no abcde"')
    expect(shown?.text).toContain('https://sb.example.org/#/approvals/abcde')
    const { scene: inside } = await open({}, fake)
    await inside.send('kate@home.test', ask as never)
    const [, plain] = await fake.kate.reads()
    expect(plain?.text).not.toContain('http')
  })
})
