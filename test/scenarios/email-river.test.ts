// Mail through the whole river, against the fake provider: what lay there after a downtime, every fault plan, and the tools by
// which an agent writes first.
import { afterAll, describe, expect, it } from 'vitest'
import { FAKE_KATE_ADDRESS } from '../../src/testing/emulate.ts'
import {
  faultPlansFor,
  formatMatrix,
  type MatrixCell,
  type NamedPlan,
} from '../../src/testing/faults/fault-matrix.ts'
import { testAgent } from '../../src/testing/test-settings.ts'
import { until } from '../faults/until.ts'
import { type EmailRiverOptions, openEmailRiver } from './email-river.ts'
import { caller } from './tool-caller.ts'

type River = Awaited<ReturnType<typeof openEmailRiver>>

async function withRiver(options: EmailRiverOptions, run: (river: River) => Promise<void>): Promise<void> {
  const river = await openEmailRiver(options)
  try {
    await run(river)
    expect(await river.store().verify()).toMatchObject({
      ok: true,
      chain: 'intact',
      conservation: { ok: true },
    })
    expect(river.log.lines.join('\n')).not.toContain(river.fake.password)
  } finally {
    await river.close()
  }
}
const counted = (texts: readonly string[]) =>
  new Map([...new Set(texts)].map((text) => [text, texts.filter((one) => one === text).length]))

describe('after a downtime', () => {
  it('[I19.in-thousand] 1,000 mails of one sender are a turn each: none is refused for coming together, none comes twice', async () => {
    await withRiver({ played: testAgent('kit', ['mail']) }, async (river) => {
      const { fake } = river
      river.agent('kit').script = () => undefined
      await river.down()
      for (let at = 0; at < 1_000; at++) await fake.kate.writes(`mail ${at}`, { fresh: true })
      await river.up()
      const heard = () => river.agent('kit').texts()
      await until('all of them', () => new Set(heard()).size >= 1_000)
      const turns = await river.store().turns({ limit: 2_000 })
      expect(turns.filter(({ state }) => state === 'refused')).toEqual([])
      expect(turns).toHaveLength(1_000)
      expect(counted(heard())).toEqual(new Map(heard().map((text) => [text, 1])))
    })
  })

  it('[I19.in-waited] what is older than a minute is late, a fresh one is not, and strangers fill no log', async () => {
    let back = 0
    const now = () => Date.now() - back
    await withRiver({ played: testAgent('kit', ['mail']), now }, async (river) => {
      const { fake } = river
      river.agent('kit').script = () => undefined
      await river.down()
      back = 3_600_000
      await fake.kate.writes('an hour ago', { fresh: true })
      await fake.kate.writes('/new', { fresh: true })
      back = 0
      await fake.kate.writes('just now', { fresh: true })
      const mallory = fake.person('mallory@home.test')
      for (let at = 0; at < 100; at++) await mallory.writes(`${at}`)
      await river.up()
      const turn = async (text: string) =>
        (await river.store().turns({ limit: 500 })).find(({ body }) => body?.text === text)
      await until('the fresh one', () => river.agent('kit').texts().includes('just now'))
      expect(await turn('an hour ago')).toMatchObject({ state: 'handed', lateAt: expect.any(Number) })
      expect(await turn('/new')).toMatchObject({ state: 'consumed', reason: 'late' })
      expect((await turn('just now'))?.lateAt ?? null).toBe(null)
      const received = async () =>
        (await river.store().counters()).find(({ name }) => name === 'received')?.count
      await until('all were looked at', async () => (await received()) === 103)
      const rows = await river.store().turns({ states: ['refused'], limit: 500 })
      expect(rows.length).toBeLessThan(60)
    })
  })
})

describe('a mail that took the daemon down', () => {
  it('[I35.b9] twice is refused as unparsable after the next start, visibly, and the next mail is read', async () => {
    await withRiver({ played: testAgent('kit', ['mail']) }, async (river) => {
      const { fake } = river
      river.agent('kit').script = () => undefined
      const inbox = fake.world.mailbox(fake.bot).folders.get('INBOX')
      const input = `${inbox?.uidValidity}.${inbox?.uidNext}`
      for (const life of [1, 2]) expect(await river.store().beginTry('mail', input)).toBe(life)
      await river.down()
      await fake.kate.writes('boom', { fresh: true })
      await fake.kate.writes('hello', { fresh: true })
      await river.up()
      await until('the next one', () => river.agent('kit').texts().includes('hello'))
      expect(river.agent('kit').texts()).toEqual(['hello'])
      const refused = await river.store().turns({ states: ['refused'], limit: 10 })
      expect(refused).toMatchObject([{ reason: 'unparsable', sender: FAKE_KATE_ADDRESS }])
    })
  })
})

const cells: MatrixCell[] = []
afterAll(() => console.log(`platform × fault\n${formatMatrix(cells)}`))
const WORDS = ['alpha', 'bravo', 'charlie']
/** A mail is never changed, and mail servers bring nothing twice, in another order or to a second reader. */
const NOT_OF_MAIL = new Set(['conflict', 'duplicate', 'reorder'])
const PLANS: readonly NamedPlan[] = [
  ...faultPlansFor({ send: 'END OF DATA', edit: 'none', receive: 'UID FETCH' })
    .map((plan) => ({
      ...plan,
      faults: plan.faults.filter((rule) => !NOT_OF_MAIL.has(rule.do) && rule.on !== 'none'),
    }))
    .filter(({ name, faults }) => name === 'none' || faults.length > 0),
  { name: 'deaf link', faults: [{ on: 'IDLE', nth: 2, do: 'deaf-link' }], mayRepeat: false },
  {
    name: 'throttled',
    faults: [
      { on: 'UID SEARCH', nth: [2, 3], do: 'rate-limit' },
      { on: 'MAIL', nth: [1, 2], do: 'rate-limit' },
    ],
    mayRepeat: false,
  },
]

describe('email under every fault plan', () => {
  it.each(PLANS)('[I19.fault-plans] [S7.suite] $name: nothing lost, nothing repeated', async (plan) => {
    const timings = { commandMs: 600, ...(plan.mayRepeat ? { sendMs: 400 } : {}) }
    await withRiver({ timings, mailbox: { poll_interval: '300ms' } }, async (river) => {
      const { fake } = river
      fake.plan(plan.faults)
      // One after the other: a person answers the newest mail.
      for (const word of [...WORDS, 'deploy']) await fake.kate.writes(word, { fresh: true })
      const seen = async () => fake.kate.reads()
      const sees = (part: string) =>
        until(part, async () => (await seen()).some(({ text }) => text.includes(part)))
      for (const word of WORDS) await sees(`You said: ${word}`)
      await sees('demo wants to run Deploy')
      await fake.kate.decides('Allow')
      await sees('Deployed')
      await until(
        'the outbox is empty',
        async () => (await river.store().sends({ states: ['queued', 'sending'], limit: 10 })).length === 0,
      )
      const expected = [...WORDS.map((word) => `You said: ${word}`), 'Deployed']
      // A second copy has the same id: whoever reads it sees one.
      const mails = await seen()
      const copies = (part: string) =>
        new Set(mails.filter(({ text }) => text.includes(part)).map(({ id }) => id)).size
      cells.push({
        ...{ platform: 'email', plan: plan.name, fired: fake.fired().length },
        lost: expected.filter((part) => copies(part) === 0).length,
        repeated: expected.filter((part) => copies(part) > 1).length,
        labelled: mails.filter(({ text }) => text.includes('may be a duplicate')).length,
      })
      expect(expected.map((part) => [part, copies(part)])).toEqual(expected.map((part) => [part, 1]))
      if (plan.faults.length > 0) expect(fake.fired().length).toBeGreaterThan(0)
      const turns = await river.store().turns({ limit: 50 })
      expect(turns.map(({ state, reason }) => reason ?? state).toSorted()).toEqual([
        ...['answered', 'answered', 'answered', 'answered', 'verdict'],
      ])
    })
  })
})

describe('habits of providers', () => {
  it('[I19.provider-habits] a mail under two numbers (labels) is one turn, gaps in the numbers hide none, and sessions that end leave no connection behind', async () => {
    await withRiver({ played: testAgent('kit', ['mail']) }, async (river) => {
      const { fake } = river
      const inbox = fake.world.mailbox(fake.bot).folders.get('INBOX')
      if (inbox === undefined) throw new Error('no inbox')
      const heard = (count: number) =>
        until(`${count} turns`, () => river.agent('kit').texts().length >= count)
      await fake.kate.writes('one', { fresh: true })
      await heard(1)
      const [first] = inbox.mails
      // A label that was taken off and put on again: another number, the same mail.
      fake.world.append(inbox, { raw: first?.raw ?? Buffer.alloc(0) })
      fake.world.remove(inbox, new Set([1]))
      inbox.uidNext += 1_000
      await fake.kate.writes('two', { fresh: true })
      await heard(2)
      for (let ended = 0; ended < 20; ended++) {
        fake.cut()
        await until('it is read again', () => fake.open().imap > 0)
      }
      await fake.kate.writes('three', { fresh: true })
      await heard(3)
      expect(river.agent('kit').texts()).toEqual(['one', 'two', 'three'])
      expect(fake.open().imap).toBeLessThanOrEqual(2)
      expect(await river.store().turns({ limit: 10 })).toHaveLength(3)
    })
  })
})

describe('an agent that writes first', () => {
  it('[I19.out-fresh] [F7.send-email-fresh] send_message reaches a fresh address where it is allowed; a refused one is told in the server’s words', async () => {
    const played = testAgent('kit', ['mail'], { messagingAllow: ['email:*'] })
    await withRiver({ played }, async (river) => {
      const { fake } = river
      const send = (target: string) =>
        river
          .tools()
          .sendMessage(caller({ agent: 'kit' }), { platform: 'email', target, body: '**Hello**, newcomer' })
      expect(await send('fresh@elsewhere.test')).toMatchObject({
        isError: false,
        text: 'Message sent to email:fresh@elsewhere.test',
        structured: { status: 'sent' },
      })
      const [mail] = await fake.person('fresh@elsewhere.test').reads()
      expect(mail).toMatchObject({
        from: fake.bot,
        text: 'Hello, newcomer',
        subject: expect.stringContaining('Hello'),
      })
      const gone = await send('nobody@elsewhere.test')
      expect(gone).toMatchObject({
        isError: true,
        text: expect.stringContaining('nobody of that name lives here'),
      })
      const injected = await send('a@b.test>\r\nRCPT TO:<evil@x.test')
      expect(injected.isError).toBe(true)
      expect(await fake.person('evil@x.test').reads()).toEqual([])
    })
  })

  it('[I19.notify] [I19.claim-reply] notify_user to email finds its person, with its urgency; the reply reaches the session that spoke', async () => {
    await withRiver({ played: testAgent('kit', ['mail']) }, async (river) => {
      const { fake } = river
      await fake.kate.writes('start')
      const { session } = await until('the session', () => river.agent('kit').deliveries[0])
      const told = await river.tools().notifyUser(caller({ agent: 'kit', session }), {
        ...{ message: 'Shall I deploy?', channel: 'email', urgency: 'high' },
        ...{ claimThread: true, claimThreadLabel: 'deploy' },
      })
      expect(told).toMatchObject({ text: 'Notification sent via email', isError: false })
      const asked = (await fake.kate.reads()).at(-1)
      expect(asked).toMatchObject({ subject: expect.stringMatching(/^\[Urgent\] Shall I deploy\?/) })
      await fake.kate.writes('yes, do')
      const taken = () => river.agent('kit').deliveries.find(({ text }) => text.includes('yes, do'))
      expect((await until('the reply', taken)).session).toBe(session)
      expect(FAKE_KATE_ADDRESS).toBe(fake.kate.address)
    })
  })
})
