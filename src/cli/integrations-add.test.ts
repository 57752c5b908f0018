// `integrations add PLATFORM`: what a module asks, tried on the emulator or on a module of somebody else, against a canned daemon.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { ModuleSetup } from '../contract/index.ts'
import { tryOut } from '../setup/try-out.ts'
import { createFakeTelegram, type FakeTelegram } from '../testing/telegram/fake-telegram.ts'
import { askerAt } from './asker.ts'
import { createContext } from './context.ts'
import { type Canned, command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const { start, data, path } = freshFolder()
let fake: FakeTelegram | undefined
afterEach(async () => {
  await fake?.stop()
  fake = undefined
})

const VIEW = { enabled: true, default: false, scope: 'bound', origin: 'store', link: 'up' }
const added = (more: object = {}): Canned => ({
  ...{ id: 'telegram', platform: 'telegram', ...VIEW, ...more },
})
const quiet = {
  'GET /api/integrations': { items: [], next: null },
  'GET /api/secrets': { items: [], next: null },
}
const kept = (id = 'telegram', key = 'token') => ({
  ...quiet,
  [`PUT /api/secrets/${id}.${key}`]: { ok: true },
  [`DELETE /api/secrets/${id}.${key}`]: { ok: true },
  'POST /api/integrations': added({ id }),
})

/** A person who types these answers; null: the input ended (Ctrl-D, Ctrl-C). */
const person = (...answers: (string | null)[]) => {
  const asked: { question: string; hidden: boolean }[] = []
  const terminal = rememberingTerminal({
    inputIsTty: true,
    ask: async (question, options) => {
      asked.push({ question, hidden: options?.hidden === true })
      return answers.shift() ?? null
    },
  })
  return { terminal, asked }
}
const piping = (input: string) => rememberingTerminal({ input })
const writes = (asked: readonly { method: string; path: string }[]) =>
  asked.filter(({ method }) => method !== 'GET').map(({ method, path }) => `${method} ${path}`)

describe('[I13.setup] integrations add telegram, against the emulator', () => {
  const root = async () => {
    fake = await createFakeTelegram()
    return ['--set', `api_root=${fake.url}`]
  }

  it('asks without echo, tries the token, says who it is, and keeps a reference', async () => {
    const daemon = await start(kept('tg'))
    const where = await root()
    const { terminal, asked } = person('', fake?.token ?? '', 'y')
    const told = await command(
      ['integrations', 'add', 'telegram', '--id', 'tg', ...where, ...data()],
      terminal,
    )
    expect(told.code, told.err).toBe(0)
    expect(asked.map(({ hidden }) => hidden)).toEqual([true, true, false])
    expect(asked[0]?.question).toBe('token of the bot (from @BotFather) (hidden): ')
    expect(told.err).toMatch(/telegram answers: this is @\w+/)
    expect(told.out).toContain('tg (telegram) is kept, encrypted; link: up')
    expect(told.out + told.err).not.toContain(fake?.token)
    expect(writes(daemon.asked)).toEqual(['PUT /api/secrets/tg.token', 'POST /api/integrations'])
    expect(daemon.asked.at(-2)?.body).toEqual({ value: fake?.token })
    expect(daemon.asked.at(-1)?.body).toEqual({
      definition: { id: 'tg', platform: 'telegram', api_root: fake?.url, token: 'secret:tg.token' },
    })
  })

  it('takes the secret from a pipe; --json keeps the shape of the integration and adds who it is', async () => {
    const daemon = await start(kept())
    const words = [
      'integrations',
      'add',
      'telegram',
      ...(await root()),
      '--agent',
      'demo',
      '--json',
      ...data(),
    ]
    const told = await command(words, piping(`${fake?.token}\n`))
    expect(told.code, told.err).toBe(0)
    expect(told.lines).toEqual([{ ...(added() as object), who: expect.stringMatching(/^@/) }])
    expect(daemon.asked.at(-1)?.body).toMatchObject({ agent: 'demo' })
  })

  it('a secret flag with "-" reads standard input, with --platform too', async () => {
    const daemon = await start(kept())
    const where = await root()
    for (const words of [['telegram'], ['telegram', '--platform', 'telegram']]) {
      const told = await command(
        ['integrations', 'add', ...words, '--token', '-', ...where, ...data()],
        piping(`${fake?.token}\n`),
      )
      expect(told.code, told.err).toBe(0)
      expect(daemon.asked.find(({ method }) => method === 'PUT')?.body).toEqual({ value: fake?.token })
      daemon.asked.length = 0
    }
  })

  it('a secret on the command line works, and is warned of', async () => {
    await start(kept())
    const where = await root()
    const words = [
      'integrations',
      'add',
      '--token',
      fake?.token ?? '',
      'telegram',
      ...where,
      '--yes',
      ...data(),
    ]
    const told = await command(words)
    expect(told.code, told.err).toBe(0)
    expect(told.err).toContain('--token can be seen by others')
    expect(told.err).not.toContain(fake?.token)
  })

  it('never takes the name of a secret that is there', async () => {
    const daemon = await start({
      ...kept(),
      'GET /api/secrets': { items: [{ name: 'telegram.token' }], next: null },
      'PUT /api/secrets/telegram.token-2': { ok: true },
    })
    const told = await command(
      ['integrations', 'add', 'telegram', ...(await root()), ...data()],
      piping(fake?.token ?? ''),
    )
    expect(told.code, told.err).toBe(0)
    expect(writes(daemon.asked)).toEqual(['PUT /api/secrets/telegram.token-2', 'POST /api/integrations'])
    expect(daemon.asked.at(-1)?.body).toMatchObject({ definition: { token: 'secret:telegram.token-2' } })
  })

  it('a wrong token keeps nothing and is not repeated', async () => {
    const daemon = await start(kept())
    const wrong = '7000000001:AAwrong-token-of-nobody_0123456789ABCDE'
    const told = await command(
      ['integrations', 'add', 'telegram', ...(await root()), ...data()],
      piping(wrong),
    )
    expect(told.code).toBe(1)
    expect(told.err).toMatch(/error: telegram: .*\nhint: nothing was kept/)
    expect(told.err).not.toContain(wrong)
    expect(writes(daemon.asked)).toEqual([])
  })

  it('a server that is away keeps nothing', async () => {
    const daemon = await start(kept())
    const where = await root()
    const token = fake?.token ?? ''
    await fake?.stop()
    fake = undefined
    const told = await command(['integrations', 'add', 'telegram', ...where, ...data()], piping(token))
    expect(told.code).toBe(1)
    expect(told.err).toContain('nothing was kept')
    expect(writes(daemon.asked)).toEqual([])
  })

  it.each([
    ['at the secret', []],
    ['at the confirmation', ['TOKEN']],
    ['a no', ['TOKEN', 'n']],
  ])('the input that ends %s leaves nothing behind', async (_where, answers) => {
    const daemon = await start(kept())
    const where = await root()
    const { terminal } = person(...answers.map((one) => (one === 'TOKEN' ? (fake?.token ?? '') : one)))
    const told = await command(['integrations', 'add', 'telegram', ...where, ...data()], terminal)
    expect(told.code).not.toBe(0)
    expect(told.err).toContain('nothing was kept')
    expect(writes(daemon.asked)).toEqual([])
  })

  it('what the daemon refuses is taken back, the secret too', async () => {
    const daemon = await start({
      ...kept(),
      'POST /api/integrations': () => ({
        status: 404,
        body: { ok: false, code: 'not_found', error: 'there is no agent "x"', hint: null },
      }),
    })
    const words = ['integrations', 'add', 'telegram', '--agent', 'x', ...(await root()), ...data()]
    const told = await command(words, piping(fake?.token ?? ''))
    expect(told.code).toBe(1)
    expect(told.err).toContain('there is no agent "x"')
    expect(writes(daemon.asked)).toEqual([
      'PUT /api/secrets/telegram.token',
      'POST /api/integrations',
      'DELETE /api/secrets/telegram.token',
    ])
  })

  it('a reference is kept as it is, and not tried: the daemon alone reads it', async () => {
    const daemon = await start(kept())
    const told = await command([
      'integrations',
      'add',
      'telegram',
      '--token',
      'env:TG',
      ...(await root()),
      ...data(),
    ])
    expect(told.code, told.err).toBe(0)
    expect(told.err).toContain('not tried: env:TG is read by the daemon alone')
    expect(told.err).not.toContain('warning')
    expect(writes(daemon.asked)).toEqual(['POST /api/integrations'])
  })
})

describe('[I13.setup] integrations add refuses', () => {
  it.each([
    [
      ['matrix'],
      'there is no platform "matrix"',
      'what there is: web, webhook, telegram, slack, discord, email, chorus',
    ],
    [['telegarm'], 'there is no platform "telegarm"', 'what there is: web,'],
    [['mcp'], 'there is no platform "mcp"', 'what there is: web,'],
    [['__proto__'], 'there is no platform "__proto__"', 'what there is: web,'],
    [['telegram', '--tokne', 'x'], 'unknown option "--tokne"', 'did you mean "--token"?'],
    [['telegram', '--token'], '--token needs a value', ''],
    [['telegram'], '--token is missing: token of the bot', 'pipe it in; nothing was kept'],
    [['telegram', '--token', 'env:T', '--set', 'api_rot=http://x'], 'unknown key "api_rot"', 'did you mean'],
    [['telegram', 'tg'], '"tg" is one word too many', ''],
  ])('%j', async (words, error, hint) => {
    const daemon = await start(kept())
    const told = await command(['integrations', 'add', ...words, ...data()])
    expect(told.code).toBe(2)
    expect(told.err).toContain(error)
    expect(told.err).toContain(hint)
    expect(writes(daemon.asked)).toEqual([])
  })

  it('an id that is taken, before anybody types a secret', async () => {
    await start({ ...kept(), 'GET /api/integrations': { items: [added()], next: null } })
    const { terminal, asked } = person('x')
    const told = await command(['integrations', 'add', 'telegram', ...data()], terminal)
    expect(told.code).toBe(1)
    expect(told.err).toContain('choose another id with --id ID')
    expect(asked).toEqual([])
  })
})

it('[I18.wizard-link] says where to write once its link is up: what is written before is heard by nobody', async () => {
  const links = ['connecting', 'connecting', 'up']
  let there = false
  const daemon = await start({
    ...kept(),
    'GET /api/integrations': () => ({
      body: { items: there ? [added({ link: links.shift() ?? 'up' })] : [], next: null },
    }),
    'POST /api/integrations': () => {
      there = true
      return { body: added({ link: 'connecting' }) }
    },
  })
  fake = await createFakeTelegram()
  const words = ['integrations', 'add', 'telegram', '--yes', '--set', `api_root=${fake.url}`, ...data()]
  const told = await command(words, piping(`${fake.token}\n`))
  expect([told.code, told.out]).toEqual([0, expect.stringMatching(/link: up[\s\S]*write to it:/)])
  expect(daemon.asked.filter(({ path }) => path === '/api/integrations').length).toBeGreaterThan(3)
})

describe('[I13.setup] a module of somebody else', () => {
  const MODULE = `
const string = { type: 'string' }
const schema = { type: 'object', additionalProperties: false, required: ['key', 'room'],
  properties: { key: { ...string, 'x-secret': true }, room: string, size: { type: 'integer' } } }
const options = { '~standard': { version: 1, vendor: 'own', validate: (value) => ({ value }), jsonSchema: { input: () => schema } } }
export const platforms = [{ name: 'matrix', options, docs: 'https://example.com', create() { throw new Error('not here') },
  setup: {
    questions: [
      { key: 'key', flag: 'key', ask: 'key', secret: true },
      { key: 'room', flag: 'room', ask: 'room', default: '12' },
      { key: 'size', flag: 'size', ask: 'size', default: '5' },
    ],
    async try({ key, room, size }) {
      if (key === 'bad') throw new Error('no: ' + key)
      return { who: typeof room + room + typeof size + size }
    },
    paste: ({ id, base }) => ['at ' + base + '/' + id],
    url: ({ base, who }) => base + '/to/' + who,
  } }]
`
  const withModule = () => {
    writeFileSync(join(path(), 'own.mjs'), MODULE)
    const file = join(path(), 'switchboard.yaml')
    writeFileSync(file, 'modules: [./own.mjs]\nserver: { public_url: "https://sb.example.com/" }\n')
    return ['--config', file, ...data()]
  }

  it('is asked, tried and kept like one of ours; texts stay texts', async () => {
    const daemon = await start(kept('matrix', 'key'))
    const { terminal, asked } = person('good', '', '7', '')
    const told = await command(['integrations', 'add', 'matrix', ...withModule()], terminal)
    expect(told.code, told.err).toBe(0)
    expect(asked.map(({ question }) => question)).toEqual([
      'key (hidden): ',
      'room [12]: ',
      'size [5]: ',
      'keep it as matrix? [Y/n]: ',
    ])
    // First how to get at the key; once it is kept where to write to.
    expect(told.err).toMatch(/^at https:\/\/sb\.example\.com\/matrix\n[\s\S]*this is string12number7/)
    expect(told.out).toContain('write to it: https://sb.example.com/to/string12number7\n')
    expect(told.out).not.toContain('at https:')
    expect(daemon.asked.at(-1)?.body).toEqual({
      definition: { id: 'matrix', platform: 'matrix', key: 'secret:matrix.key', room: '12', size: 7 },
    })
  })

  it('cannot tell the secret, whatever it throws', async () => {
    const daemon = await start(kept('matrix', 'key'))
    const told = await command(
      ['integrations', 'add', 'matrix', '--room', 'r', ...withModule()],
      piping('bad'),
    )
    expect([told.code, told.err]).toEqual([1, expect.stringContaining('matrix: no: …')])
    expect(writes(daemon.asked)).toEqual([])
  })

  it('prints what to paste before it is set up, and is in the schema of the file', async () => {
    await start(quiet)
    const words = withModule()
    expect((await command(['integrations', 'paste', 'matrix', ...words])).out).toBe(
      'at https://sb.example.com/matrix\n',
    )
    const shown = await command(['schema', ...words])
    expect(shown.out).toContain('"matrix"')
    expect((await command(['schema', ...data()])).out).not.toContain('"matrix"')
  })
})

it('[I13.setup] a try that never answers ends', async () => {
  const trial = (setup: ModuleSetup) =>
    tryOut(askerAt(createContext(rememberingTerminal(), {})), {
      ...{ name: 'matrix', refused: 'matrix', setup, options: {}, hidden: [], withinMs: 20 },
    })
  const hangs = { questions: [], try: () => new Promise<never>(() => undefined) }
  await expect(trial(hangs)).rejects.toMatchObject({ code: 'platform_unavailable' })
  const mute = { questions: [], try: async () => ({}) as never }
  await expect(trial(mute)).rejects.toMatchObject({ code: 'execution_failed' })
})

describe('[I13.setup] integrations paste', () => {
  const hooks = ['a', 'b'].map((id) => ({
    ...VIEW,
    id,
    platform: 'webhook',
    paste: [`URL: http://h/hooks/${id}`],
  }))
  const table = { 'GET /api/integrations': { items: [...hooks, added()], next: null } }

  it('of an id, of a platform, of what has nothing, of what is not there', async () => {
    await start(table)
    const paste = (...words: string[]) => command(['integrations', 'paste', ...words, ...data()])
    expect((await paste('b')).out).toBe('URL: http://h/hooks/b\n')
    expect((await paste('webhook')).out).toBe('URL: http://h/hooks/a\nURL: http://h/hooks/b\n')
    expect((await paste('b', '--json')).lines).toEqual([
      { id: 'b', platform: 'webhook', paste: hooks[1]?.paste },
    ])
    expect(await paste('telegram')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('nothing is to be'),
    })
    expect(await paste('nobody')).toMatchObject({
      code: 2,
      err: expect.stringContaining('platforms: web, webhook'),
    })
  })

  it('is printed behind what was added', async () => {
    await start({ ...kept('webhook', 'secret'), 'POST /api/integrations': hooks[0] })
    const told = await command(['integrations', 'add', 'webhook', ...data()], piping('s3cret'))
    expect(told.code, told.err).toBe(0)
    expect(told.out).toContain('a (webhook) is kept, encrypted; link: up\n  URL: http://h/hooks/a\n')
  })
})
