// `init --agent llm` and `agents add --connector llm`: the key is tried on the API, kept encrypted, and shown or written
// nowhere else.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openKeyRing } from '../config/secrets/key-ring.ts'
import { openSecretStore } from '../config/secrets/secret-store.ts'
import { STATUS } from '../server/fixtures/open-server.ts'
import { openStore } from '../store/open.ts'
import { createFakeLlm } from '../testing/llm/fake-llm.ts'
import { createTestClock, createTestRandom } from '../testing/test-clock.ts'
import { command, rememberingTerminal, startFakeDaemon, temporaryFolder } from './fixtures/fake-daemon.ts'

const KEY = 'sk-planted-4711-very-secret'

async function place() {
  const fake = createFakeLlm({ key: KEY, models: ['m1'] })
  const api = await fake.listen()
  const folder = temporaryFolder()
  onTestFinished(async () => {
    await api.close()
    folder.done()
  })
  const file = join(folder.path, 'switchboard.yaml')
  const data = join(folder.path, 'data')
  const keyFile = join(folder.path, 'key.txt')
  writeFileSync(keyFile, `${KEY}\n`)
  const words = (key = keyFile, ...more: string[]) => [
    ...['init', '--agent', 'llm', '--provider', 'anthropic', '--base-url', api.url, '--model', 'm1'],
    ...['--api-key-file', key, '--config', file, '--data', data, '--yes', ...more],
  ]
  return { fake, file, data, keyFile, words, path: folder.path }
}

function everythingIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name !== 'key.txt')
    .map((one) => readFileSync(join(one.parentPath, one.name), 'latin1'))
    .join('\n')
}

describe('init --agent llm', () => {
  it('[I16.setup] tries the key with one token, keeps it encrypted, and writes a file that holds', async () => {
    const { fake, file, data, words, path } = await place()
    const told = await command(words())
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining('this is m1 at 127.0.0.1') })
    expect(fake.requests.map(({ body }) => body.max_tokens)).toEqual([1])
    expect(readFileSync(file, 'utf8')).toContain('api_key: secret:llm_api_key')
    expect((await command(['check', file, '--data', data])).code).toBe(0)
    expect(told.out + told.err + everythingIn(path)).not.toContain('4711')
    const keys = openKeyRing({ dataDir: data, env: {} })
    const deps = {
      clock: createTestClock(),
      random: createTestRandom('x'),
      node: 'n',
      ledgerKey: keys.ledgerKey,
    }
    const store = await openStore(`sqlite:${join(data, 'switchboard.db')}`, deps)
    onTestFinished(() => store.close())
    expect((await openSecretStore(keys, store)).read('llm_api_key')).toBe(KEY)
    expect(statSync(join(data, 'switchboard.key')).mode & 0o077).toBe(0)
  })

  it('[I16.setup] a wrong key, an unknown model and no API write nothing, and say what is wrong without the key', async () => {
    const { file, data, words, path } = await place()
    const wrong = join(path, 'key.txt.wrong')
    writeFileSync(wrong, 'sk-wrong-0815-secret')
    const refused = await command(words(wrong))
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('refused the key (401)') })
    expect(refused.out + refused.err).not.toContain('0815')
    const unknown = await command([...words(), '--model', 'm9'])
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('no model "m9"') })
    const away = await command([...words(), '--base-url', 'http://127.0.0.1:1'])
    expect(away).toMatchObject({ code: 1, err: expect.stringContaining('cannot be reached') })
    expect((await command(words(join(path, 'nowhere')))).code).toBe(2)
    expect([existsSync(file), existsSync(data)]).toEqual([false, false])
  })

  it('[I16.setup] a file that is there is not asked about twice, and nothing of it changes', async () => {
    const { fake, file, words } = await place()
    writeFileSync(file, 'agents: []\n')
    expect(await command(words())).toMatchObject({ err: expect.stringContaining('is there already') })
    expect(fake.requests).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe('agents: []\n')
  })

  it('[I16.setup] a server of one’s own needs no key', async () => {
    const { file, data } = await place()
    const free = createFakeLlm()
    const api = await free.listen()
    onTestFinished(() => api.close())
    const words = ['init', '--agent', 'llm', '--base-url', `${api.url}/v1`, '--model', 'llama', '--yes']
    const told = await command([...words, '--config', file, '--data', data, '--json'])
    expect(JSON.parse(told.out)).toMatchObject({
      ok: true,
      agent_secret: null,
      who: expect.stringContaining('llama'),
    })
    expect(readFileSync(file, 'utf8')).toContain('provider: openai-compatible')
  })
})

describe('agents add --connector llm', () => {
  const YAML = 'integrations:\n  - { id: web, platform: web }\n'

  async function running() {
    const fake = createFakeLlm({ key: KEY, models: ['m1'] })
    const api = await fake.listen()
    const folder = temporaryFolder()
    const file = join(folder.path, 'switchboard.yaml')
    writeFileSync(file, YAML)
    const daemon = await startFakeDaemon(folder.path, {
      'GET /api/status': { ...STATUS, agents: [{ id: 'ann' }], config: { ...STATUS.config, file } },
      'GET /api/secrets': { items: [{ name: 'old_api_key' }], next: null },
      'PUT /api/secrets/kate_api_key': { ok: true },
    })
    onTestFinished(async () => {
      await daemon.close()
      await api.close()
      folder.done()
    })
    const words = (id: string, ...more: string[]) => [
      ...['agents', 'add', id, '--connector', 'llm', '--provider', 'anthropic', '--model', 'm1'],
      ...['--base-url', api.url, '--config', file, '--data', folder.path, ...more],
    ]
    const kept = () => daemon.asked.filter(({ method }) => method === 'PUT').map(({ body }) => body)
    return { fake, file, words, kept, path: folder.path, url: api.url }
  }

  it('[I16.llm-add] the key is piped in, tried with one token, kept by the daemon, and the lines are written', async () => {
    const { fake, file, words, kept, path } = await running()
    const told = await command(words('kate', '--write'), rememberingTerminal({ input: `${KEY}\n` }))
    expect(told).toMatchObject({ code: 0, err: expect.stringContaining('this is m1 at 127.0.0.1') })
    expect(fake.requests.map(({ body }) => body.max_tokens)).toEqual([1])
    expect(kept()).toEqual([{ value: KEY }])
    expect(readFileSync(file, 'utf8')).toContain('api_key: secret:kate_api_key')
    expect(told.out + told.err + readFileSync(file, 'utf8')).not.toContain('4711')
    expect((await command(['check', file, '--data', path])).code).toBe(0)
  })

  it('[I16.llm-add] [I35.b41-print] without --write the key is typed without echo and tried, the lines are printed and nothing is kept', async () => {
    const { words, kept, file, fake } = await running()
    const asked: { hidden: boolean }[] = []
    const terminal = rememberingTerminal({
      inputIsTty: true,
      ask: async (_question, options) => {
        asked.push({ hidden: options?.hidden === true })
        return KEY
      },
    })
    const told = await command(words('kate'), terminal)
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('type: llm') })
    expect(asked).toEqual([{ hidden: true }])
    expect([kept(), fake.requests.length]).toEqual([[], 1])
    expect(told.err).toContain('--write: it keeps secret:kate_api_key, encrypted')
    expect([readFileSync(file, 'utf8'), (told.out + told.err).includes('4711')]).toEqual([YAML, false])
  })

  it('[I16.llm-add] what does not hold keeps and writes nothing', async () => {
    const { words, kept, file, fake } = await running()
    const input = (text: string) => rememberingTerminal({ input: text })
    const wrong = await command(words('kate', '--write'), input('sk-wrong-0815'))
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('refused the key (401)') })
    expect(wrong.out + wrong.err).not.toContain('0815')
    // Somebody else's agent or key is not touched, and the API is not asked.
    expect((await command(words('ann', '--write'), input(KEY))).err).toContain(
      'there is an agent "ann" already',
    )
    expect((await command(words('old'), input(KEY))).err).toContain('secret:old_api_key already')
    expect((await command(words('kate', '--http', 'https://x.example'), input(KEY))).code).toBe(2)
    expect(await command(['agents', 'add', 'kate', '--connector', 'demo', '--model', 'm1'])).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('--model') },
    })
    expect([kept(), fake.requests, readFileSync(file, 'utf8')]).toEqual([[], [], YAML])
  })

  it('[I16.llm-add] a server of one’s own needs no key, and none is kept', async () => {
    const { words, kept, file } = await running()
    const free = createFakeLlm()
    const own = await free.listen()
    onTestFinished(() => own.close())
    const flags = ['--provider', 'openai-compatible', '--base-url', `${own.url}/v1`, '--write', '--json']
    const told = await command(words('kate', ...flags))
    expect(told).toMatchObject({ code: 0, lines: [{ agent: 'kate', who: expect.stringContaining('m1') }] })
    expect(kept()).toEqual([])
    expect(readFileSync(file, 'utf8')).not.toContain('api_key')
  })
})
