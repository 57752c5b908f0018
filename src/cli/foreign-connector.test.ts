// A connector of somebody else beside ours: its emulator runs, and its questions are asked and taken as flags.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { CONNECTORS } from '../modules/registry.ts'
import { STATUS } from '../server/fixtures/open-server.ts'
import type { Prompts } from '../setup/asker.ts'
import { flagsOf } from '../setup/catalog.ts'
import { runEmulate } from './commands/setup/emulate.ts'
import { createContext } from './context.ts'
import { command, freshFolder, rememberingTerminal, startFakeDaemon } from './fixtures/fake-daemon.ts'
import { createProgram } from './program.ts'

const { path } = freshFolder()

const MODULE = `
const string = { type: 'string' }
const schema = { type: 'object', additionalProperties: false, required: ['tone'], properties: {
  tone: string, size: { type: 'integer' }, key: { ...string, 'x-secret': true }, seal: { ...string, 'x-secret': true } } }
const validate = (value) => value.tone === 'shrill'
  ? { issues: [{ message: 'hurts', path: ['tone'] }] }
  : /^secret:|^env:/.test(value.key) ? { value } : { issues: [{ message: 'is no reference', path: ['key'] }] }
const options = { '~standard': { version: 1, vendor: 'own', validate, jsonSchema: { input: () => schema } } }
export const connectors = [{ name: 'parrot', options, docs: 'https://example.com', create() { throw new Error('not here') },
  setup: {
    questions: [
      { key: 'tone', flag: 'my-tone', ask: 'how it speaks' },
      { key: 'size', flag: 'size', ask: 'how large it is', default: '5' },
      { key: 'key', flag: 'key', ask: 'its key', secret: true },
      { key: 'seal', flag: 'seal', ask: 'its seal', secret: true, fresh: () => 'fresh-seal-4711' },
      { key: 'cage', flag: 'cage', ask: 'its cage', when: () => false },
    ],
    async try({ tone, size, key }) {
      if (key === 'bad-4711') throw new Error('no: ' + key)
      return { who: 'Polly, ' + tone + ' ' + typeof size + size }
    },
  },
  emulator: async ({ onBot }) => ({
    url: 'http://127.0.0.1:1', token: 't', integration: {}, environment: { PARROT_KEY: 'k' }, more: [],
    connector: { type: 'parrot', tone: 'low', key: 'env:PARROT_KEY' },
    says: (text) => onBot('hears ' + text), taps: () => undefined, stop: async () => undefined,
  }),
}]
`

const file = () => join(path(), 'switchboard.yaml')
const text = () => readFileSync(file(), 'utf8')

/** The words that lead to a file that names the module. */
function withModule(more = ''): readonly string[] {
  writeFileSync(join(path(), 'parrot.mjs'), MODULE)
  writeFileSync(file(), `modules: [./parrot.mjs]\n${more}`)
  return ['--config', file(), '--data', join(path(), 'data')]
}

it('[I13.emulator-row] emulate runs the emulator of a connector of somebody else, and names it', async () => {
  withModule()
  const terminal = rememberingTerminal()
  const context = createContext(terminal, { config: file() })
  const deps = {
    onLine: (run: (line: string) => void) => run('hello'),
    onStop: (run: () => void) => run(),
  }
  expect(await runEmulate(context, 'parrot', {}, deps)).toBe(0)
  expect(terminal.printed.out).toContain('- { id: parrot, connector: { type: parrot, tone: low, key: env:')
  expect(terminal.printed.out).toContain('PARROT_KEY=k')
  expect(terminal.printed.out).toContain('bot hears hello')
  const none = await command(['emulate', 'nobody', '--config', file()])
  expect(none.err).toMatch(
    /there is: switchboard emulate telegram,.* emulate llm, switchboard emulate parrot/,
  )
})

describe('[I13.connector-setup] agents add', () => {
  const WEB = 'integrations:\n  - { id: web, platform: web }\n'

  async function running() {
    const words = withModule(WEB)
    const daemon = await startFakeDaemon(join(path(), 'data'), {
      'GET /api/status': { ...STATUS, agents: [], config: { ...STATUS.config, file: file() } },
      'GET /api/secrets': { items: [], next: null },
      'PUT /api/secrets/polly_key': { ok: true },
      'PUT /api/secrets/polly_seal': { ok: true },
    })
    const kept = () =>
      daemon.asked.flatMap(({ method, path: at, body }) => (method === 'PUT' ? [[at, body]] : []))
    const add = (more: readonly string[], terminal = rememberingTerminal()) =>
      command(['agents', 'add', 'polly', '--connector', 'parrot', ...more, ...words], terminal).finally(() =>
        daemon.close(),
      )
    return { add, kept }
  }

  it('takes the questions of a connector of somebody else by flags, tries them, and keeps its secrets', async () => {
    const { add, kept } = await running()
    writeFileSync(join(path(), 'key.txt'), 'typed-4711\n')
    // Another's lines may stand in the pipe: what can be made is not looked for there.
    const terminal = rememberingTerminal({ readInput: async () => expect.unreachable('the pipe was read') })
    const flags = ['--my-tone', '12', '--key-file', join(path(), 'key.txt'), '--json', '--write']
    const told = await add(flags, terminal)
    expect(told).toMatchObject({ code: 0, lines: [{ who: 'Polly, 12 number5' }] })
    expect(told.lines[0]).toMatchObject({ seal_secret: 'fresh-seal-4711' })
    expect(parse(text())).toMatchObject({
      agents: [
        {
          id: 'polly',
          connector: {
            ...{ type: 'parrot', tone: '12', size: 5, key: 'secret:polly_key', seal: 'secret:polly_seal' },
          },
        },
      ],
    })
    expect(kept()).toEqual([
      ['/api/secrets/polly_key', { value: 'typed-4711' }],
      ['/api/secrets/polly_seal', { value: 'fresh-seal-4711' }],
    ])
    expect(text()).not.toContain('4711')
  })

  it('asks them at a terminal, but for a secret that can be made', async () => {
    const { add, kept } = await running()
    const asked: string[] = []
    const answers = ['low', '', 'typed-4711', '']
    const terminal = rememberingTerminal({
      inputIsTty: true,
      ask: async (question) => {
        asked.push(question)
        return answers.shift() ?? null
      },
    })
    const told = await add(['--write'], terminal)
    expect([told.code, asked]).toEqual([
      0,
      [
        ...['how it speaks: ', 'how large it is [5]: ', 'its key (hidden): '],
        'give it to the agent, then press Enter: ',
      ],
    ])
    expect(text()).toMatch(/type: parrot\n +tone: low\n +size: 5\n +key: secret:polly_key/)
    expect(told.err).toContain('fresh-seal-4711')
    expect(told.out).not.toContain('fresh-seal-4711')
    expect(told.out + told.err).not.toContain('typed-4711')
    expect(kept()).toHaveLength(2)
  })

  it.each<[string, readonly string[], string, RegExp]>([
    ['a question without an answer', [], 'k', /--my-tone is missing: how it speaks/],
    ['what its options refuse', ['--my-tone', 'shrill'], 'k', /parrot: tone: hurts/],
    [
      'a trial that fails, without the secret',
      ['--my-tone', 'low'],
      'bad-4711',
      /the agent was tried: no: …/,
    ],
    [
      'a flag that it does not ask',
      ['--my-tune', 'low'],
      'k',
      /unknown option "--my-tune"[\s\S]*"--my-tone"/,
    ],
    ['a flag of another connector', ['--my-tone', 'low', '--provider', 'x'], 'k', /unknown option "--prov/],
    [
      'a file that is not there',
      ['--my-tone', 'low', '--key-file', '/nowhere'],
      'k',
      /--key-file: \/nowhere/,
    ],
  ])('%s is told, and nothing is kept or written', async (_what, more, input, why) => {
    const { add, kept } = await running()
    const before = text()
    const told = await add([...more, '--write'], rememberingTerminal({ input }))
    expect(told.code).not.toBe(0)
    expect(told.err).toMatch(why)
    expect(told.err).not.toContain('4711')
    expect([kept(), text()]).toEqual([[], before])
  })

  it('needs no daemon where its secrets are kept elsewhere', async () => {
    const words = withModule(WEB)
    const terminal = rememberingTerminal({ env: { PARROT_KEY: 'behind-4711', PARROT_SEAL: 's' } })
    const flags = ['--my-tone', 'low', '--key', 'env:PARROT_KEY', '--seal', 'env:PARROT_SEAL', '--json']
    const told = await command(
      ['agents', 'add', 'polly', '--connector', 'parrot', ...flags, ...words],
      terminal,
    )
    expect(told).toMatchObject({ code: 0, lines: [{ secret: null, who: 'Polly, low number5' }] })
    expect(told.out + told.err).not.toContain('4711')
  })

  it('of ours goes by the same questions: http without its URL is told so', async () => {
    const { add } = await running()
    const told = await add(['--connector', 'http', '--write'])
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('--url is missing') })
  })
})

describe('[I13.connector-setup] init --agent', () => {
  const here = () => ({ cwd: () => path(), env: { HOME: path() } })

  it('takes the questions of a connector of somebody else by flags; a flag that it does not ask is refused', async () => {
    const words = withModule()
    const init = (more: readonly string[]) =>
      command(
        ['init', '--yes', '--no-start', '--platform', 'web', '--agent', 'parrot', ...more, ...words],
        rememberingTerminal({ ...here(), input: 'typed-4711\n' }),
      )
    const before = text()
    const strange = await init(['--my-tune', 'low'])
    expect(strange).toMatchObject({
      ...{ code: 2, err: expect.stringMatching(/unknown option "--my-tune"[\s\S]*parrot asks --my-tone/) },
    })
    expect(text()).toBe(before)
    const told = await init(['--my-tone', 'low', '--seal', 'env:SEAL', '--size', '7'])
    expect(told, told.err).toMatchObject({ code: 2, err: expect.stringContaining('SEAL') })
    const done = await init(['--my-tone', 'low', '--size', '7', '--json', '--seal', 'sealed'])
    expect(done, done.err).toMatchObject({ code: 0, lines: [{ agent: 'parrot' }] })
    expect(parse(text())).toMatchObject({
      agents: [{ connector: { type: 'parrot', tone: 'low', size: 7, key: 'secret:parrot.key' } }],
    })
  })

  it('[I18.wizard-tried] what flags alone said and was refused is not tried for ever', async () => {
    const words = withModule()
    const said: string[] = []
    const silent = async () => expect.unreachable('nobody is to be asked')
    const prompts: Prompts = {
      ...{ begin: () => undefined, end: () => undefined, show: () => undefined },
      say: (one) => void (said.push(one) > 5 && expect.unreachable('it goes on for ever')),
      ...{ one: silent, several: silent, text: silent, secret: silent, yes: silent },
    }
    const flags = ['--my-tone', 'low', '--size', '7', '--key', 'bad-4711', '--seal', 'sealed']
    const told = await command(
      ['init', '--platform', 'web', '--agent', 'parrot', ...flags, ...words],
      rememberingTerminal({ ...here(), inputIsTty: true, prompts: async () => prompts }),
    )
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('the agent was tried: no: …') })
    expect(said.join('\n')).not.toContain('once more')
  })

  it('a starter is answered by any connector of ours, by its questions', async () => {
    const init = (more: readonly string[], name: string) =>
      command(
        ['init', '--yes', ...more, '--config', join(path(), name), '--data', join(path(), 'data')],
        rememberingTerminal(here()),
      )
    const told = await init(['--agent', 'channel'], 'a.yaml')
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('init claude-code --agent channel') })
    expect(readFileSync(join(path(), 'a.yaml'), 'utf8')).toContain('connector: { type: channel }')
    expect(await init(['--agent', 'acp'], 'b.yaml')).toMatchObject({
      ...{ code: 2, err: expect.stringContaining('--command is missing') },
    })
  })
})

it('[I13.connector-flags] what help names of connectors are flags of their questions', async () => {
  const program = createProgram(async () => undefined, { out: () => undefined, err: () => undefined })
  const named = (...names: string[]) => {
    let at: Command | undefined = program
    for (const name of names) at = at?.commands.find((one) => one.name() === name)
    return at?.options.map(({ long }) => long?.slice(2) ?? '') ?? []
  }
  const modules = await Promise.all(Object.values(CONNECTORS).map((load) => load()))
  const asked = modules.flatMap(flagsOf)
  expect(named('agents', 'add').filter((flag) => !asked.includes(flag))).toEqual([
    ...['http', 'chorus', 'connector', 'write', 'bind', 'allow-private'],
  ])
  expect(named('init').filter((flag) => !asked.includes(flag))).toEqual([
    ...['platform', 'set', 'agent', 'agent-id', 'start', 'no-start', 'no-wait', 'hook', 'port', 'token-file'],
    ...['yes', 'force'],
  ])
})
