// A mailbox behind the fault proxy: a cut answer proves nothing. It is no empty folder, no missing folder, and no proof
// that a mail was not sent.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFakeMail } from '../../testing/email/fake-mail.ts'
import { createFaultProxy, type ProxyFaultKind } from '../../testing/faults/fault-proxy.ts'
import { openScene } from './fixtures/email-scene.ts'

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open(smtpHost?: string) {
  const fake = await createFakeMail()
  closing.push(() => fake.stop())
  const proxy = await createFaultProxy({ port: fake.imapPort })
  closing.push(() => proxy.stop())
  const servers = { imap: proxy.port, submission: fake.smtpPort, password: fake.password, ca: '' }
  const smtp = { host: smtpHost, port: fake.smtpPort, password: 'env:MAIL', tls: false }
  const scene = await openScene(servers, {
    bot: fake.bot,
    options: { authserv_id: fake.authservId, ...(smtpHost === undefined ? {} : { smtp }) },
  })
  closing.push(() => scene.close())
  return { fake, proxy, adapter: scene.adapter }
}

type Opened = Awaited<ReturnType<typeof open>>

const KINDS: readonly ProxyFaultKind[] = ['reset-before', 'reset-after', 'cut-header', 'cut-body']
const CASES = ['STATUS', 'SELECT|EXAMINE', 'UID SEARCH', 'UID FETCH'].flatMap((command) =>
  KINDS.map((kind) => [command, kind] as const),
)

describe('[I35.a1-history] the history of a mailbox whose answers are cut off', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await open()
    await opened.fake.kate.writes('one', { fresh: true })
  })
  it.each(CASES)('%s: %s is a failure that passes, and never a page without mails', async (command, kind) => {
    const { proxy, adapter } = opened
    const before = proxy.fired
    const read = () =>
      adapter.history?.read({ place: { id: 'INBOX' }, after: null, since: 0, limit: 100 }) ?? null
    await proxy.fail({ kind, on: new RegExp(command), times: 1 })
    await expect(read()).rejects.toMatchObject({ code: 'platform_unavailable' })
    expect(proxy.fired).toBe(before + 1)
    expect(await read()).toMatchObject({ entries: [{ event: { text: 'one' } }], more: false })
  })
})

describe('[I35.a1-read-back] the read-back of a mail at a provider that files what is sent', () => {
  let opened: Opened
  beforeAll(async () => {
    opened = await open('smtp.gmail.com')
  })
  it.each(CASES.filter(([command]) => command !== 'UID FETCH'))(
    '%s: %s is asked again, and does not mean that the mail is not there',
    async (command, kind) => {
      const { proxy, adapter } = opened
      const before = proxy.fired
      const to = { integration: 'em', conversation: 'kate@home.test' }
      const request = { to, key: 'row1', seq: 1, op: { kind: 'text', text: 'hello' } } as const
      await proxy.fail({ kind, on: new RegExp(command), times: 1 })
      await expect(adapter.reconcile?.(request)).rejects.toMatchObject({ code: 'platform_unavailable' })
      expect(proxy.fired).toBe(before + 1)
      expect(await adapter.reconcile?.(request)).toEqual({ outcome: 'absent' })
    },
  )
})
