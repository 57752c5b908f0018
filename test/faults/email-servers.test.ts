// Mail through the whole river against a real IMAP and submission server, behind a proxy that misbehaves as providers and networks do: on
// SQLite and on PostgreSQL. Prints the matrix platform × fault.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { inMailbox, PROVEN, putMails } from '../../src/platforms/email/fixtures/email-scene.ts'
import {
  createFaultProxy,
  type FaultProxy,
  type ProxyRule,
} from '../../src/platforms/email/fixtures/fault-proxy.ts'
import {
  type MailServers,
  startMailServers,
  withoutServers,
} from '../../src/platforms/email/fixtures/mail-servers.ts'
import { formatMatrix, type MatrixCell } from '../../src/testing/faults/fault-matrix.ts'
import { dealtPlans, SCOPE } from '../scenarios/deal.ts'
import { openMailRiver } from '../scenarios/email-river.ts'
import { until } from './until.ts'

const missing = withoutServers()
let servers: MailServers
let boxes = 0
const cells: MatrixCell[] = []

beforeAll(async () => {
  if (missing === null) servers = await startMailServers(null)
}, 60_000)
afterAll(async () => {
  await servers?.stop()
  console.log(`platform × fault\n${formatMatrix(cells)}`)
}, 30_000)

interface Plan {
  readonly name: string
  readonly imap?: readonly ProxyRule[]
  readonly smtp?: readonly ProxyRule[]
  /** Every connection breaks again and again. */
  readonly cuts?: true
}

const PLANS: readonly Plan[] = [
  { name: 'none' },
  { name: 'drop in', imap: [{ do: 'drop', on: 'UID FETCH', times: 2 }] },
  { name: 'stall in', imap: [{ do: 'stall', on: 'UID FETCH', times: 1 }] },
  { name: 'half-open in', imap: [{ do: 'half-open', on: 'UID SEARCH', times: 2 }] },
  { name: 'truncated FETCH', imap: [{ do: 'truncate', on: 'UID FETCH', times: 2 }] },
  { name: 'BYE in IDLE', imap: [{ do: 'bye', on: 'IDLE', times: 2 }] },
  { name: 'drop on send', smtp: [{ do: 'drop', on: 'RCPT TO', times: 2 }] },
  { name: 'stall on send', smtp: [{ do: 'stall', on: 'MAIL FROM', times: 1 }] },
  { name: 'greylisted', smtp: [{ do: 'greylist', on: 'RCPT TO', times: 3 }] },
  { name: 'taken, then dropped', smtp: [{ do: 'accept-then-drop', on: 'DATA', times: 2 }] },
  { name: 'taken, then silence', smtp: [{ do: 'accept-then-silence', on: 'DATA', times: 1 }] },
  { name: 'cut again and again', cuts: true },
]
const WORDS = ['alpha', 'bravo', 'charlie']

describe('email on real servers under every fault plan', () => {
  beforeEach((context) => {
    if (missing !== null) context.skip(missing)
  })
  const product = PLANS.flatMap((plan) =>
    (['sqlite', 'postgres'] as const)
      .map((arrangement) => ({ ...plan, arrangement }))
      .slice(0, SCOPE === 'first' ? 1 : 2),
  )

  it.each(dealtPlans(product, ({ name }) => name))(
    '[I19.fault-river] $name on $arrangement: nothing lost, nothing repeated',
    async (plan) => {
      boxes += 1
      const [bot, kate] = [`river${boxes}@gw.test`, `kate-river${boxes}@home.test`]
      const [imap, smtp] = [await createFaultProxy(servers.imap), await createFaultProxy(servers.submission)]
      const place = { bot, kate, password: servers.password, authservId: 'mx.gw.test' }
      const river = await openMailRiver(
        { ...place, imapPort: imap.port, smtpPort: smtp.port },
        {
          arrangement: plan.arrangement,
          mailbox: { poll_interval: '300ms' },
          timings: { commandMs: 1_500, sendMs: 3_000 },
        },
      )
      try {
        await talk(plan, river, { imap, smtp, bot, kate })
      } finally {
        await river.close()
        await Promise.all([imap.stop(), smtp.stop()])
      }
    },
  )
})

type River = Awaited<ReturnType<typeof openMailRiver>>
interface Ends {
  readonly imap: FaultProxy
  readonly smtp: FaultProxy
  readonly bot: string
  readonly kate: string
}

async function talk(plan: Plan, river: River, { imap, smtp, bot, kate }: Ends): Promise<void> {
  let said = 0
  const writes = (text: string, more: readonly string[] = []) => {
    const id = `<w${++said}.${bot}>`
    const head = [`Message-ID: ${id}`, PROVEN, `From: Kate <${kate}>`, `To: ${bot}`, `Subject: about ${text}`]
    return putMails(servers, bot, [[...head, ...more, '', text]])
  }
  const got = () =>
    inMailbox(servers, kate, async (client) => {
      const found = await client.fetchAll('1:*', { source: true, envelope: true }).catch(() => [])
      return found.map(({ source, envelope }) => ({
        id: envelope?.messageId ?? '',
        text: (source?.toString() ?? '').replace(/=\r\n/g, ''),
      }))
    })
  const sees = (part: string) =>
    until(part, async () => (await got()).find(({ text }) => text.includes(part)))
  imap.set(plan.imap ?? [])
  smtp.set(plan.smtp ?? [])
  for (const word of [...WORDS, 'deploy']) {
    await writes(word)
    if (plan.cuts) for (const end of [imap, smtp]) end.cut()
  }
  for (const word of WORDS) await sees(`You said: ${word}`)
  const asked = await sees('demo wants to run Deploy')
  const [, code] = /"yes ([a-km-z]{5})"/.exec(asked.text) ?? []
  if (plan.cuts) for (const end of [imap, smtp]) end.cut()
  await writes(`yes ${code}`, [`In-Reply-To: ${asked.id}`])
  await sees('Deployed')
  await until('the outbox is empty', async () => {
    const open = await river.store().sends({ states: ['queued', 'sending'], limit: 10 })
    return open.length === 0
  })
  const mails = await got()
  const expected = [...WORDS.map((word) => `You said: ${word}`), 'Deployed']
  // A second copy has the same id: whoever reads it sees one.
  const copies = (part: string) =>
    new Set(mails.filter(({ text }) => text.includes(part)).map(({ id }) => id)).size
  const fired = imap.fired() + smtp.fired()
  cells.push({
    ...{ platform: 'email', plan: plan.name, fired, labelled: 0 },
    lost: expected.filter((part) => copies(part) === 0).length,
    repeated: expected.filter((part) => copies(part) > 1).length,
  })
  expect(expected.map((part) => [part, copies(part)])).toEqual(expected.map((part) => [part, 1]))
  if (plan.imap || plan.smtp) expect(fired).toBeGreaterThan(0)
  const turns = await river.store().turns({ limit: 50 })
  expect(turns.map(({ state, reason }) => reason ?? state).toSorted()).toEqual([
    ...['answered', 'answered', 'answered', 'answered', 'verdict'],
  ])
  expect(await river.store().verify()).toMatchObject({
    ok: true,
    chain: 'intact',
    conservation: { ok: true },
  })
  expect(river.log.lines.join('\n')).not.toContain(servers.password)
}
