// A mailbox set up from the command line: asked, tried at both servers, kept only then; by one line; and by the wizard.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { emailModule } from '../platforms/email/module.ts'
import { createFakeMail, type FakeMailServers } from '../testing/email/fake-mail.ts'
import { command, freshFolder, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

const { start, data } = freshFolder()
let fake: FakeMailServers
beforeEach(async () => {
  fake = await createFakeMail()
})
afterEach(() => fake.stop())

const VIEW = { enabled: true, default: false, scope: 'bound', origin: 'store', link: 'up' }
const kept = () => ({
  'GET /api/integrations': { items: [], next: null },
  'GET /api/secrets': { items: [], next: null },
  'PUT /api/secrets/email.imap.password': { ok: true },
  'PUT /api/secrets/email.smtp.password': { ok: true },
  'POST /api/integrations': { id: 'email', platform: 'email', ...VIEW },
})
/** What is not asked for: that the servers of this test are here. */
const here = (prefix = '') =>
  [
    ['imap.port', fake.imapPort],
    ['imap.tls', false],
    ['smtp.port', fake.smtpPort],
    ['smtp.tls', false],
  ].flatMap(([key, value]) => ['--set', `${prefix}${key}=${value}`])
const hosts = ['--imap-host', '127.0.0.1', '--smtp-host', '127.0.0.1']
const add = (words: readonly string[], input?: string) =>
  command(
    ['integrations', 'add', ...words, ...here(), ...data()],
    rememberingTerminal(input === undefined ? {} : { input }),
  )

describe('integrations add email', () => {
  it('[I19.setup] both logins are tried before anything is kept, and whoever may write may decide', async () => {
    const daemon = await start(kept())
    const words = ['email', '--address', fake.bot, ...hosts, '--from', 'Kate@home.test, bo@home.test']
    const told = await add(
      [...words, '--authserv-id', fake.authservId],
      `${fake.password}\n${fake.password}\n`,
    )
    expect(told.code, told.err).toBe(0)
    expect(told.err).toContain(`email answers: this is ${fake.bot} (0 mails in INBOX)`)
    expect(told.out + told.err).not.toContain(fake.password)
    expect(daemon.asked.at(-1)?.body).toMatchObject({
      definition: {
        address: fake.bot,
        imap: { host: '127.0.0.1', password: 'secret:email.imap.password' },
        smtp: { host: '127.0.0.1', password: 'secret:email.smtp.password' },
        authserv_id: fake.authservId,
        access: {
          allow_from: ['kate@home.test', 'bo@home.test'],
          approvers: ['kate@home.test', 'bo@home.test'],
        },
      },
    })
  })

  it('[I19.setup] a password that one of the servers refuses is told in its words, without it, and nothing is kept', async () => {
    const daemon = await start(kept())
    const words = ['email', '--address', fake.bot, ...hosts, '--from', 'kate@home.test']
    const imap = await add(words, `wrong-one\n${fake.password}\n`)
    expect(imap.err).toMatch(/IMAP: the login was refused .*user or password is wrong/)
    const smtp = await add(words, `${fake.password}\nwrong-two\n`)
    expect(smtp.err).toMatch(/SMTP: the login was refused .*user or password is wrong/)
    for (const { code, out, err } of [imap, smtp]) {
      expect(code).not.toBe(0)
      expect(out + err).not.toMatch(/wrong-one|wrong-two|emulated-mail-password/)
    }
    expect(daemon.asked.some(({ method }) => method === 'PUT' || method === 'POST')).toBe(false)
    const nobody = await add(
      ['email', '--address', fake.bot, ...hosts],
      `${fake.password}\n${fake.password}\n`,
    )
    expect(nobody).toMatchObject({ code: 2, err: expect.stringContaining('--from is missing') })
  })

  it('[I18.add-url-mail] mailto:// takes address, servers and who may write; a password inside is warned of', async () => {
    const daemon = await start(kept())
    const query = '?imap=127.0.0.1&smtp=127.0.0.1&from=kate@home.test'
    const asked = await add([`mailto://${fake.bot}${query}`], `${fake.password}\n${fake.password}\n`)
    expect(asked.code, asked.err).toBe(0)
    expect(asked.err).not.toContain('history')
    expect(daemon.asked.at(-1)?.body).toMatchObject({
      definition: { id: 'email', address: fake.bot, access: { allow_from: ['kate@home.test'] } },
    })
    const inside = await add([
      `mailto://bot:${encodeURIComponent(fake.password)}@emulated.test${query}`,
      '--yes',
    ])
    expect(inside.code, inside.err).toBe(0)
    expect(inside.err).toMatch(/warning: what is in the URL can be seen by others .*shell's history/)
    expect(inside.out + inside.err).not.toContain(fake.password)
    for (const wrong of [
      'mailto://secret-word',
      'mailto://a:secret-word@x.test?imap=',
      'mailto://a:%zz@x.test',
    ]) {
      const refused = await add([wrong])
      expect(refused.code, wrong).toBe(2)
      expect(refused.err).toContain('mailto://')
      expect(refused.err).not.toContain('secret-word')
    }
  })
})

describe('known providers', () => {
  it('[I19.setup] of Gmail, Fastmail and iCloud the servers are known, and are not asked for', () => {
    const { questions = [], complete } = emailModule.setup ?? {}
    const asked = (address: string) =>
      questions.filter(({ when }) => when?.({ address }) !== false).map(({ key }) => key)
    expect(asked('kate@gmail.com')).toEqual([
      'address',
      'imap.password',
      'smtp.password',
      'access.allow_from',
    ])
    expect(asked('kate@example.org')).toContain('smtp.host')
    expect(complete?.({ address: 'Kate@GMAIL.com', access: { allow_from: 'a@b.c' } })).toEqual({
      'imap.host': 'imap.gmail.com',
      'smtp.host': 'smtp.gmail.com',
      authserv_id: 'mx.google.com',
      'access.allow_from': ['a@b.c'],
      'access.approvers': ['a@b.c'],
    })
    expect(complete?.({ address: 'k@icloud.com', imap: { host: 'mine' }, authserv_id: 'x' })).toEqual({
      'smtp.host': 'smtp.mail.me.com',
      'smtp.port': 587,
      'smtp.tls': 'starttls',
    })
    expect(complete?.({ address: 'k@example.org' })).toEqual({})
  })
})

describe('init', () => {
  it('[I19.setup] the wizard asks, tries and writes a file that holds; doctor tells what stands open', async () => {
    const folder = temporaryFolder()
    const at = (more: object = {}) =>
      rememberingTerminal({ cwd: () => folder.path, env: { HOME: folder.path }, ...more })
    try {
      const flags = ['--email-address', fake.bot, ...hosts.map((word) => word.replace(/^--/, '--email-'))]
      const words = ['init', '--yes', '--no-start', '--platform', 'email', ...here('email.'), ...flags]
      const wrong = await command([...words, '--email-from', 'kate@home.test'], at({ input: 'x\ny\n' }))
      expect(wrong.err).toContain('IMAP: the login was refused')
      expect(readdirSync(folder.path)).toEqual([])
      const input = `${fake.password}\n${fake.password}\n`
      const told = await command([...words, '--email-from', 'kate@home.test'], at({ input }))
      expect(told.code, told.err).toBe(0)
      const file = readFileSync(join(folder.path, 'switchboard.yaml'), 'utf8')
      expect(file).toMatch(/platform: email/)
      expect(file).toContain('kate@home.test')
      expect(file).not.toContain(fake.password)
      expect((await command(['check'], at())).code).toBe(0)
    } finally {
      folder.done()
    }
    const gates = (options: object) =>
      emailModule.doctor?.({ id: 'm', origin: 'integrations[0]', options } as never, { publicUrl: null }) ??
      []
    const closed = { authserv_id: 'mx', imap: { host: 'a', tls: true }, smtp: { host: 'a', tls: true } }
    expect(gates(closed)).toEqual([])
    expect(gates({ ...closed, require_auth_results: false })).toMatchObject([
      { open: 'high', key: 'integrations[0].require_auth_results' },
    ])
    expect(gates({ ...closed, smtp: { host: 'mail.example.org', tls: false } })).toMatchObject([
      { open: 'high', key: 'integrations[0].smtp.tls' },
    ])
    expect(gates({ ...closed, authserv_id: undefined, verify_dkim: false })).toMatchObject([{ pass: false }])
  })
})
