// `integrations add SCHEME://`: one line that sets a platform up, with the secret kept out of it.
import { afterEach, describe, expect, it } from 'vitest'
import { createFakeTelegram, type FakeTelegram } from '../testing/telegram/fake-telegram.ts'
import { command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const { start, data } = freshFolder()
let fake: FakeTelegram | undefined
afterEach(async () => {
  await fake?.stop()
  fake = undefined
})

const VIEW = { enabled: true, default: false, scope: 'bound', origin: 'store', link: 'up' }
const kept = () => ({
  'GET /api/integrations': { items: [], next: null },
  'GET /api/secrets': { items: [], next: null },
  'PUT /api/secrets/telegram.token': { ok: true },
  'POST /api/integrations': { id: 'telegram', platform: 'telegram', ...VIEW },
})
const person = (...answers: string[]) => {
  const asked: { hidden: boolean }[] = []
  const ask = async (_question: string, options?: { readonly hidden?: boolean }) => {
    asked.push({ hidden: options?.hidden === true })
    return answers.shift() ?? null
  }
  return { terminal: rememberingTerminal({ inputIsTty: true, ask }), asked }
}
const piping = (input: string) => rememberingTerminal({ input })

describe('one line, by the scheme of a URL', () => {
  const root = async () => {
    fake = await createFakeTelegram()
    return ['--set', `api_root=${fake.url}`]
  }

  it('[I18.add-url] [I18.add-url-secret] [I18.secret-prompt] tgram:// asks for the token without echo', async () => {
    const daemon = await start(kept())
    const where = await root()
    const { terminal, asked } = person(fake?.token ?? '', 'y')
    const told = await command(['integrations', 'add', 'tgram://', ...where, ...data()], terminal)
    expect(told.code, told.err).toBe(0)
    expect(asked.map(({ hidden }) => hidden)).toEqual([true, false])
    expect(told.err).not.toContain('history')
    expect(daemon.asked.at(-1)?.body).toMatchObject({
      definition: { id: 'telegram', token: 'secret:telegram.token' },
    })
  })

  it('[I18.add-url-secret] reads it from standard input; one inside the URL works, and is warned of', async () => {
    await start(kept())
    const where = await root()
    const piped = await command(
      ['integrations', 'add', 'tgram://', ...where, ...data()],
      piping(`${fake?.token}\n`),
    )
    expect(piped.code, piped.err).toBe(0)
    const inside = await command([
      'integrations',
      'add',
      `tgram://${fake?.token}`,
      ...where,
      '--yes',
      ...data(),
    ])
    expect(inside.code, inside.err).toBe(0)
    expect(inside.err).toMatch(/warning: what is in the URL can be seen by others .*shell's history/)
    expect(inside.out + inside.err).not.toContain(fake?.token)
  })

  it('[I18.add-url] a scheme that nobody knows, and a line that holds too much, are refused with what there is', async () => {
    await start(kept())
    const strange = await command(['integrations', 'add', 'fax://x', ...data()])
    expect(strange.code).toBe(2)
    expect(strange.err).toMatch(
      /no platform is set up by fax:\/\/\nhint: those that are: .*tgram:\/\/.*slack:\/\//,
    )
    const chats = await command(['integrations', 'add', 'tgram://1:secret/412', ...data()])
    expect(chats).toMatchObject({ code: 2, err: expect.stringContaining('takes the token alone') })
    expect(chats.err).not.toContain('secret')
    const both = await command(['integrations', 'add', 'slack://xoxb-a/xoxb-b', ...data()])
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('one bot token') })
  })
})
