// A connection to the mail server that breaks at every step. Before the first byte of the mail, nothing was sent. After
// that the outcome is unknown. It runs through the TCP fault proxy, against the fake mail provider.
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeMail } from '../../testing/email/fake-mail.ts'
import { createFaultProxy, type ProxyFault } from '../../testing/faults/fault-proxy.ts'
import { openScene } from './fixtures/email-scene.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function open() {
  const fake = await createFakeMail()
  closing.push(() => fake.stop())
  const proxy = await createFaultProxy({ port: fake.smtpPort })
  closing.push(() => proxy.stop())
  const servers = { imap: fake.imapPort, submission: fake.smtpPort, password: fake.password, ca: '' }
  const scene = await openScene(servers, {
    bot: fake.bot,
    smtpPort: proxy.port,
    options: { authserv_id: fake.authservId },
    timings: { connectMs: 300, sendMs: 300 },
  })
  closing.push(() => scene.close())
  const send = (text: string) =>
    scene.send('kate@home.test', { kind: 'text', text }).then(
      () => 'sent',
      (thrown: { readonly code?: string }) => thrown.code ?? 'no code',
    )
  return { fake, proxy, send }
}

describe('a refusal for good', () => {
  it.each([
    [/^MAIL FROM/m, undefined],
    [/^RCPT TO/m, true],
    [/^DATA/m, undefined],
  ])(
    '[I35.mail-place-gone] at %s is an address that is gone only for RCPT TO',
    async (refused, placeGone) => {
      const server = createServer((socket) => {
        let inMail = false
        socket.on('error', () => undefined).write('220 relay.test ESMTP\r\n')
        socket.on('data', (chunk) => {
          const said = chunk.toString('latin1')
          if (inMail) return
          if (refused.test(said)) return void socket.write('550 5.7.1 the account is blocked\r\n')
          inMail = /^DATA/m.test(said)
          if (/^QUIT/m.test(said)) return void socket.end('221 bye\r\n')
          if (/^AUTH/m.test(said)) return void socket.write('235 2.7.0 fine\r\n')
          socket.write(/^EHLO/m.test(said) ? '250-relay.test\r\n250 AUTH PLAIN\r\n' : '250 2.0.0 fine\r\n')
        })
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      closing.push(() => new Promise((resolve) => void server.close(() => resolve())))
      const { port } = server.address() as AddressInfo
      const fake = await createFakeMail()
      closing.push(() => fake.stop())
      const servers = { imap: fake.imapPort, submission: port, password: fake.password, ca: '' }
      const scene = await openScene(servers, { bot: fake.bot })
      closing.push(() => scene.close())
      await expect(scene.send('kate@home.test', { kind: 'text', text: 'x' })).rejects.toMatchObject({
        code: 'platform_rejected',
        message: expect.stringContaining('the account is blocked'),
        placeGone,
      })
    },
  )
})

const END_OF_MAIL = /\r\n\.\r\n$/
const IN_MAIL = /^Subject:/m

describe('[I35.b19] [I35.b45-smtp-cut] smtp under faults', () => {
  it.each([
    [{ kind: 'refuse' }, 'platform_unavailable', 0],
    [{ kind: 'silent', on: /^EHLO/m }, 'platform_unavailable', 0],
    [{ kind: 'reset-before', on: /^MAIL FROM/m }, 'platform_unavailable', 0],
    [{ kind: 'reset-after', on: /^RCPT TO/m }, 'platform_unavailable', 0],
    [{ kind: 'reset-before', on: IN_MAIL }, 'outcome_unknown', 0],
    [{ kind: 'silent', on: IN_MAIL }, 'outcome_unknown', 0],
    [{ kind: 'reset-after', on: END_OF_MAIL }, 'outcome_unknown', 1],
    [{ kind: 'half-open', on: END_OF_MAIL }, 'outcome_unknown', 1],
    [{ kind: 'cut-header', on: END_OF_MAIL }, 'outcome_unknown', 1],
  ] as const)('%o is told as %s', async (fault, code, taken) => {
    const { fake, proxy, send } = await open()
    await proxy.fail({ ...(fault as ProxyFault) })
    expect(await send('one')).toBe(code)
    expect(await fake.kate.reads()).toHaveLength(taken)
    await proxy.heal()
    expect(await send('two')).toBe('sent')
  })

  it('the same over a connection that has carried mails before', async () => {
    const { fake, proxy, send } = await open()
    expect(await send('zero')).toBe('sent')
    await proxy.fail({ kind: 'reset-after', on: END_OF_MAIL, times: 1 })
    expect(await send('one')).toBe('outcome_unknown')
    expect(await fake.kate.reads()).toHaveLength(2)
    await proxy.fail({ kind: 'reset-before', on: /^MAIL FROM/m, times: 1 })
    expect(['sent', 'platform_unavailable']).toContain(await send('two'))
    await proxy.heal()
    expect(await send('three')).toBe('sent')
  })
})
