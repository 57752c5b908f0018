// A WhatsApp number set up from the command line: the token is tried, a verify token is made where none is given, and what is pasted at
// Meta is told when the daemon can answer it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createFakeWhatsApp, type FakeWhatsApp } from '../testing/emulate.ts'
import { command, freshFolder, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

const { start, data } = freshFolder()
let fake: FakeWhatsApp
beforeEach(async () => {
  fake = await createFakeWhatsApp()
})
afterEach(() => fake.stop())

const PASTE = [
  'In the app dashboard, WhatsApp, Configuration, Webhook:',
  '  Callback URL: http://h/hooks/whatsapp',
]
const kept = () => ({
  'GET /api/integrations': { items: [], next: null },
  'GET /api/secrets': { items: [], next: null },
  'PUT /api/secrets/whatsapp.access_token': { ok: true },
  'PUT /api/secrets/whatsapp.app_secret': { ok: true },
  'PUT /api/secrets/whatsapp.verify_token': { ok: true },
  'POST /api/integrations': {
    ...{ id: 'whatsapp', platform: 'whatsapp', enabled: true, default: false, scope: 'bound' },
    ...{ origin: 'store', link: 'up', paste: PASTE },
  },
})
const add = (input: string) =>
  command(
    [
      ...['integrations', 'add', 'whatsapp', '--phone-number-id', fake.phoneNumberId, '--yes'],
      ...['--set', `api_url=${fake.url}`, ...data()],
    ],
    rememberingTerminal({ input }),
  )

describe('[I24.wa-setup] integrations add whatsapp', () => {
  it('asks, tries the token, makes a verify token and shows it once, then tells what to paste', async () => {
    const daemon = await start(kept())
    const told = await add(`${fake.token}\n${fake.appSecret}\n`)
    expect(told.code, told.err).toBe(0)
    expect(told.err).toContain('whatsapp answers: this is 15550783881 (Emulated)')
    const [, made = ''] = /shown this once [^\n]*: ([0-9a-f]{32})/.exec(told.err) ?? []
    const put = daemon.asked.find(({ path }) => path === '/api/secrets/whatsapp.verify_token')
    expect(JSON.stringify(put?.body)).toContain(made || 'none was shown')
    for (const line of PASTE) expect(told.out).toContain(line)
    expect(told.out + told.err).not.toMatch(/EAAG|emulated-app-secret/)
    expect(daemon.asked.at(-1)?.body).toMatchObject({
      definition: {
        phone_number_id: fake.phoneNumberId,
        access_token: 'secret:whatsapp.access_token',
        app_secret: 'secret:whatsapp.app_secret',
        verify_token: 'secret:whatsapp.verify_token',
      },
    })
  })

  it('keeps nothing of a token that WhatsApp refuses', async () => {
    const daemon = await start(kept())
    const told = await add(`EAAGwrong\n${fake.appSecret}\n`)
    expect(told).not.toMatchObject({ code: 0 })
    expect(told.err).toContain('190: the access token has expired or was revoked')
    expect(told.out + told.err).not.toContain('EAAGwrong')
    expect(daemon.asked.some(({ method }) => method === 'PUT' || method === 'POST')).toBe(false)
  })
})

describe('[I24.wa-setup] init --platform whatsapp', () => {
  it('writes references, and no secret', async () => {
    const { path: folder, done } = temporaryFolder()
    onTestFinished(done)
    const file = join(folder, 'switchboard.yaml')
    const words = ['--whatsapp-phone-number-id', fake.phoneNumberId, '--set', `whatsapp.api_url=${fake.url}`]
    const told = await command(
      ['init', '--platform', 'whatsapp', ...words, '--agent', 'demo', '--no-start'].concat([
        ...['--config', file, '--data', join(folder, 'data')],
      ]),
      rememberingTerminal({ input: `${fake.token}\n${fake.appSecret}\n${fake.verifyToken}\n` }),
    )
    expect(told.code, told.err).toBe(0)
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('access_token: secret:whatsapp.access_token')
    expect(text + told.out + told.err).not.toMatch(/EAAG|emulated-app-secret|emulated-verify/)
  })
})
