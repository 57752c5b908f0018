// A mail that is missing in Sent: its meaning for each kind of server, and who stores the copy. Against the fake
// provider.
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeMail } from '../../../testing/email/fake-mail.ts'
import { createTestClock } from '../../../testing/test-clock.ts'
import { testPlatformDeps } from '../../../testing/test-deps.ts'
import { DEFAULT_TIMINGS, readConfig } from '../config.ts'
import { createMessageIds } from '../mail/message-ids.ts'
import { connectImap } from './imap-client.ts'
import { createSentFolder } from './sent-folder.ts'
import { createSideConnection } from './side-connection.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(host: string, more: Readonly<Record<string, unknown>> = {}) {
  const fake = await createFakeMail()
  closing.push(() => fake.stop())
  const clock = createTestClock(Date.now())
  const login = { password: 'env:MAIL', tls: false }
  const config = readConfig({
    secret: () => fake.password,
    integration: {
      id: 'em',
      options: {
        address: fake.bot,
        imap: { ...login, host: '127.0.0.1', port: fake.imapPort },
        smtp: { ...login, host, ...more },
      },
    },
  })
  const timings = DEFAULT_TIMINGS
  const side = createSideConnection({
    connect: () => connectImap(config, timings, { clock, tokens: null }),
    ...{ clock, commandMs: timings.commandMs, idleMs: timings.sideIdleMs },
  })
  closing.push(() => side.close())
  const ids = createMessageIds(config.domain)
  const { log } = testPlatformDeps()
  const sent = createSentFolder({ config, timings, clock, log, side, ids })
  const inSent = () => fake.world.mailbox(fake.bot).folders.get('Sent')?.mails.length ?? 0
  const reconcile = () =>
    sent.reconcile({
      to: { integration: 'em', conversation: 'kate@home.test' },
      op: { kind: 'text', text: 'x' },
      key: 'o_t_1',
      seq: 1,
    })
  const keep = () => sent.keep(Buffer.from(`Message-ID: ${ids.of('o_t_1')}\r\n\r\nx`), ids.of('o_t_1'))
  return { reconcile, keep, inSent }
}

describe('[I35.mail-absent] a mail whose answer was lost and that is not in Sent', () => {
  it.each([
    ['smtp.gmail.com', 'absent', 0],
    ['smtp.googlemail.com', 'absent', 0],
    // Stores the mail under another id.
    ['smtp.office365.com', 'unknown', 0],
    ['SMTP.Office365.com', 'unknown', 0],
    ['smtp-mail.outlook.com', 'unknown', 0],
    // Relays store nothing.
    ['smtp-relay.gmail.com', 'unknown', 1],
    ['example-org.mail.protection.outlook.com', 'unknown', 1],
    ['smtp.example.org', 'unknown', 1],
  ] as const)('at %s: %s; copies kept by us: %i', async (host, outcome, copies) => {
    const { reconcile, keep, inSent } = await open(host)
    expect(await reconcile()).toEqual({ outcome })
    await keep()
    expect(inSent()).toBe(copies)
    // A mail in Sent was sent.
    if (copies === 1) expect(await reconcile()).toMatchObject({ outcome: 'sent' })
  })

  it('says nothing where another account sent it', async () => {
    const { reconcile } = await open('smtp.gmail.com', { user: 'other@example.org' })
    expect(await reconcile()).toEqual({ outcome: 'unknown' })
  })
})
