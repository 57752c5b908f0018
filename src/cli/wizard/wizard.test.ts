// The wizard without a terminal: every question as a flag, nothing asked with --yes, files added to line by line, and the
// questions of every connector by a scripted person. In a real terminal: test/faults/wizard.test.ts.
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { writeDaemonNote } from '../../config/instance/daemon-note.ts'
import { dataFolderAt } from '../../config/instance/data-folder.ts'
import { cancelled, type Prompts } from '../../setup/asker.ts'
import { createFakeSlack, createFakeTelegram, type FakeTelegram } from '../../testing/emulate.ts'
import { createFakeLlm } from '../../testing/llm/fake-llm.ts'
import { command, rememberingTerminal, startFakeDaemon, temporaryFolder } from '../fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
let fake: FakeTelegram | null = null
const path = (name: string) => join(folder.path, name)
const file = () => readFileSync(path('switchboard.yaml'), 'utf8')

beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  await fake?.stop()
  fake = null
  folder.done()
})

const here = (more: object = {}) =>
  rememberingTerminal({ cwd: () => folder.path, env: { HOME: folder.path }, ...more })
const init = (words: readonly string[], more: object = {}) => command(['init', ...words], here(more))
const secrets = async () => (await command(['secrets', 'list', '--json'], here())).lines
async function telegram(): Promise<readonly string[]> {
  fake = await createFakeTelegram()
  return ['--platform', 'telegram', '--set', `telegram.api_root=${fake.url}`]
}

/** A person who answers what is in the table; what is not there is given up. */
function person(answers: Readonly<Record<string, string | readonly string[] | boolean>>) {
  const asked: string[] = []
  const shown: string[] = []
  const answer = async <T>(ask: string): Promise<T> => {
    asked.push(ask)
    const key = Object.keys(answers).find((one) => ask.includes(one))
    if (key === undefined) throw cancelled()
    const given = answers[key]
    // One after the other, where it is asked again.
    return (Array.isArray(given) && key.startsWith('API key') ? given.shift() : given) as T
  }
  const prompts: Prompts = {
    begin: () => undefined,
    end: (text) => void shown.push(text),
    say: (text) => void shown.push(text),
    show: (title, lines) => void shown.push(title, ...lines),
    one: (ask) => answer(ask),
    several: (ask) => answer(ask),
    text: (ask) => answer(ask),
    secret: (ask) => answer(ask),
    yes: (ask) => answer(ask),
  }
  return { asked, shown, terminal: { inputIsTty: true, prompts: async () => prompts } }
}

describe('by flags', () => {
  it('[I18.wizard-flags] a flag is called by what is typed here, the name of its platform before it', async () => {
    const told = await init(['--yes', '--platform', 'slack', '--slack-app-token', 'env:APP'], {
      readInput: async () => '',
    })
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('--slack-bot-token is missing') })
  })

  it('[I18.wizard-flags] [I18.wizard-yes] every question is a flag, --yes asks nothing, and the credential is tried and kept encrypted', async () => {
    const words = [
      ...(await telegram()),
      '--platform',
      'web',
      '--agent',
      'demo',
      '--agent-id',
      'kate',
      '--port',
      '5055',
    ]
    // A terminal whose questions throw: nobody is asked.
    const told = await init(
      ['--yes', '--no-start', ...words, '--telegram-token', fake?.token ?? '', '--json'],
      { inputIsTty: true },
    )
    expect(told).toMatchObject({ code: 0 })
    expect(told.lines).toMatchObject([
      { added: ['telegram', 'web'], agent: 'kate', who: { telegram: expect.stringMatching(/^@/) } },
    ])
    expect(file()).toMatch(
      /- id: telegram\n {4}platform: telegram\n {4}api_root: \S+\n {4}token: secret:telegram\.token\n {4}default: true/,
    )
    expect(file()).toContain('port: 5055')
    expect(file() + told.out + told.err).not.toContain(fake?.token)
    expect(await secrets()).toEqual([{ name: 'telegram.token' }])
    expect((await command(['check'], here())).code).toBe(0)
  })

  it('[I18.wizard-yes] --yes alone is the starter; what has no default is an error that names the flag', async () => {
    expect(await init(['--yes'], { inputIsTty: true })).toMatchObject({ code: 0 })
    const missing = await init(['--yes', '--config', path('b.yaml'), ...(await telegram())])
    expect(missing).toMatchObject({ code: 2, out: '' })
    expect(missing.err).toMatch(/--telegram-token is missing/)
    expect(existsSync(path('b.yaml'))).toBe(false)
  })

  it('[I18.wizard-tried] a wrong credential is told, never repeated, and nothing is written', async () => {
    const told = await init(['--yes', ...(await telegram()), '--telegram-token', '123:of-nobody'])
    expect(told.code).not.toBe(0)
    expect(told.err).not.toContain('error: internal')
    expect(`${told.out}${told.err}`).not.toContain('of-nobody')
    expect(readdirSync(folder.path)).toEqual([])
  })

  it('a secret flag with "-" reads standard input, and "-" itself is no secret', async () => {
    const words = ['--yes', '--no-start', ...(await telegram()), '--telegram-token', '-']
    const refused = await init(words, { input: '-\n' })
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('"-" is not a secret') })
    const empty = await init(words, { input: '' })
    expect(empty).toMatchObject({ code: 2, err: expect.stringContaining('standard input is empty') })
    const two = await init([...words, '--platform', 'webhook', '--webhook-secret', '-'], { input: 'a\nb\n' })
    expect(two).toMatchObject({
      code: 2,
      err: expect.stringContaining('--telegram-token and --webhook-secret cannot both be read from standard'),
    })
    expect(existsSync(path('switchboard.yaml'))).toBe(false)
    const piped = await init(words, { input: `${fake?.token}\n` })
    expect(piped).toMatchObject({ code: 0, err: expect.not.stringContaining('can be seen by others') })
    expect(await secrets()).toEqual([{ name: 'telegram.token' }])
  })

  it('an agent that is no connector is refused when it is a slip or takes flags', async () => {
    const slip = { code: 2, err: expect.stringContaining('did you mean "http"?') }
    const url = ['--url', 'http://127.0.0.1:9/turn']
    expect(await init(['--yes', '--agent', 'htpp', ...url])).toMatchObject(slip)
    expect(await init(['--yes', '--platform', 'web', '--no-start', '--agent', 'htpp'])).toMatchObject(slip)
    const flags = { code: 2, err: expect.stringContaining('a demo agent does not take --url') }
    expect(await init(['--yes', '--agent', 'kate', ...url])).toMatchObject(flags)
    expect(await init(['--yes', '--platform', 'web', '--agent', 'kate', ...url])).toMatchObject(flags)
    expect(readdirSync(folder.path)).toEqual([])
    expect(await init(['--yes', '--agent', 'kate'])).toMatchObject({ code: 0 })
  })

  it('notifications do not go to a one-way integration, and it is told that answers reach nobody', async () => {
    const told = await init(['--yes', '--no-start', '--platform', 'webhook', '--platform', 'web'], {
      input: 'sekrit-sekrit-sekrit\n',
    })
    expect(told).toMatchObject({
      code: 0,
      err: expect.stringContaining('webhook is one-way: answers to its messages reach nobody'),
    })
    expect(file()).toMatch(/platform: web\n {4}default: true/)
    expect(file().match(/default: true/g)).toHaveLength(1)
    const checked = await command(['check'], here())
    expect(checked).toMatchObject({ code: 0, err: expect.not.stringContaining('is one-way') })
  })

  it('a daemon that runs applies the change at once', async () => {
    const items = [{ id: 'web', platform: 'web', link: 'up', reach: 'http://127.0.0.1:1/chat' }]
    const daemon = await startFakeDaemon(folder.path, {
      'POST /api/reload': { ok: true },
      'GET /api/integrations': { items, next: null },
    })
    onTestFinished(() => daemon.close())
    const note = { pid: process.pid, url: 'http://127.0.0.1:1', startedAt: 0, version: 'x' }
    const place = dataFolderAt({ data: folder.path, config: null, env: {} })
    writeDaemonNote(place, { ...note, config: join(realpathSync(folder.path), 'switchboard.yaml') })
    const told = await init(['--yes', '--no-start', '--platform', 'web', '--data', folder.path])
    expect(told).toMatchObject({
      code: 0,
      out: expect.stringContaining('the daemon that runs has applied it'),
    })
    expect(told.out).toContain('Next: switchboard status')
    expect(daemon.asked).toContainEqual(expect.objectContaining({ path: '/api/reload' }))
  })

  it('[I18.wizard-flags] secrets are piped in, a line each; a flag of a platform that is not set up is refused', async () => {
    const words = await telegram()
    const piped = await init(['--yes', '--no-start', ...words], { input: `${fake?.token}\n` })
    expect(piped.code).toBe(0)
    const strange = await init([
      '--yes',
      '--platform',
      'web',
      '--telegram-token',
      'x',
      '--config',
      path('c.yaml'),
    ])
    expect(strange).toMatchObject({
      code: 2,
      err: expect.stringContaining('unknown option "--telegram-token"'),
    })
    const none = await init(['--yes', '--platform', 'fax', '--config', path('c.yaml')])
    expect(none).toMatchObject({
      code: 2,
      err: expect.stringMatching(/"fax" cannot be set up\nhint: what there is: web, /),
    })
  })
})

it('[I35.b41] the wizard makes one secret for an agent that verifies, shows it, and tries it after Enter', async () => {
  const refusals: string[] = []
  const verified: unknown[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    const shown = [...new Set(kate.shown.join('\n').match(/whsec_[A-Za-z0-9+/=]{20,}/g) ?? [])]
    // The person has not saved it yet; then it knows the first one that was shown.
    if (refusals.length === 0) {
      refusals.push(...shown)
      return response.writeHead(401).end()
    }
    const headers = request.headers as Record<string, string>
    verified.push(new Webhook(refusals[0] ?? '').verify(body, headers))
    response.writeHead(202).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const kate = person({
    'the URL': `http://127.0.0.1:${port}/turn`,
    'answer (in': 'answer',
    'secret that the agent': '',
    'press Enter': '',
  })
  const words = ['--platform', 'web', '--agent', 'http', '--no-start']
  const told = await init(words, kate.terminal)
  expect(told.code, told.err).toBe(0)
  expect(verified).toHaveLength(1)
  expect(refusals).toHaveLength(1)
  expect(kate.asked.filter((ask) => ask.includes('press Enter'))).toHaveLength(2)
  expect(kate.shown.join('\n').match(/whsec_[A-Za-z0-9+/=]{20,}/g)).toHaveLength(1)
})

it('[I35.b42] secrets of two platforms are piped in, a line each in their order', async () => {
  const slack = await createFakeSlack()
  try {
    const words = [
      ...['--platform', 'slack', '--set', `slack.api_url=${slack.apiUrl}`],
      ...(await telegram()),
      ...['--agent', 'demo'],
    ]
    const input = `${slack.botToken}\n${slack.appToken}\n${fake?.token}\n`
    const told = await init(['--yes', '--no-start', ...words, '--json'], { input })
    expect(told).toMatchObject({ code: 0, lines: [{ added: ['slack', 'telegram'] }] })
    expect(await secrets()).toEqual(
      ['slack.app_token', 'slack.bot_token', 'telegram.token'].map((name) => ({ name })),
    )
    expect(file() + told.out + told.err).not.toContain(fake?.token)
  } finally {
    await slack.stop()
  }
})

describe('run again', () => {
  const OWN = `# mine
integrations:
  - id: web # the page
    platform: web

  # the last word
agents:
  # who answers
  - id: kate
    connector: { type: demo } # for now
    inbound_bindings:
      - { plugin: web, instance: web }
    # behind it
`

  it('[I18.wizard-again] adds integration and binding, and every line and comment stays', async () => {
    writeFileSync(path('switchboard.yaml'), OWN)
    const told = await init(['--yes', '--no-start', '--platform', 'webhook', '--agent', 'kate'])
    expect(told).toMatchObject({ code: 0 })
    const lines = file().split('\n')
    const before = OWN.split('\n')
    expect(lines.filter((line) => before.includes(line)).sort()).toEqual(before.toSorted())
    expect(file()).toMatch(/- id: webhook\n {4}platform: webhook\n {4}secret: secret:webhook\.secret/)
    expect(file()).toMatch(
      / {6}- \{ plugin: web, instance: web \}\n {6}- plugin: webhook\n {8}instance: webhook/,
    )
    // The same once more is another one of its kind.
    expect((await init(['--yes', '--no-start', '--platform', 'webhook', '--agent', 'kate'])).code).toBe(0)
    expect(file()).toContain('- id: webhook-2')
    expect((await command(['check'], here())).code).toBe(0)
  })

  it('[I22.acp-setup] a program that is missing is told with what to do, and nothing is written', async () => {
    const words = ['--platform', 'web', '--agent', 'acp', '--command', '/nonexistent/agent', '--cwd', '.']
    const told = await init(['--yes', '--no-start', ...words])
    expect(told).toMatchObject({ code: 1, err: expect.stringMatching(/cannot be started.*Install it/s) })
    expect(existsSync(path('switchboard.yaml'))).toBe(false)
  })

  it('[I18.wizard-again] lists that are absent or written in one line are added to as well', async () => {
    writeFileSync(path('switchboard.yaml'), '# flow\nintegrations: [{ id: web, platform: web }] # all\n')
    const told = await init(['--yes', '--no-start', '--platform', 'webhook', '--agent', 'demo'])
    expect(told).toMatchObject({ code: 0 })
    expect(file()).toContain('# flow')
    expect(file()).toContain('# all')
    expect((await command(['check', '--json'], here())).lines).toMatchObject([{ ok: true }])
  })

  it('a file that is not YAML is left alone', async () => {
    writeFileSync(path('switchboard.yaml'), 'a: [\n')
    expect(await init(['--yes', '--platform', 'web'])).toMatchObject({ code: 2, out: '' })
    expect(file()).toBe('a: [\n')
  })
})

describe('asked', () => {
  const first = { 'Where do people talk': ['web'], 'Start it now': false }

  it('[I18.wizard-who] each connector asks its own: a Chorus agent for its connection string, which is kept encrypted', async () => {
    const one = person({
      ...first,
      'Who answers': 'chorus',
      'connection string': 'https://agent.example/inbox/abc',
    })
    expect((await init([], one.terminal)).code).toBe(0)
    expect(file()).toMatch(/- id: chorus\n {4}connector:\n {6}type: chorus\n {6}url: secret:chorus\.url/)
    expect(await secrets()).toEqual([{ name: 'chorus.url' }])
    expect(one.shown.join('\n')).not.toContain('agent.example')
  })

  it('[I18.wizard-tried] what is no connection string of Chorus is refused before anything is written', async () => {
    const told = await init(['--yes', '--platform', 'web', '--agent', 'chorus', '--url', 'chorus://x'])
    expect(told).toMatchObject({ code: 2, err: expect.stringContaining('no connection string') })
    expect(readdirSync(folder.path)).toEqual([])
  })

  it('[I18.wizard-who] Claude Code as a channel says what is left to do', async () => {
    const one = person({ ...first, 'Who answers': 'channel' })
    expect((await init([], one.terminal)).code).toBe(0)
    expect(file()).toContain('- id: claude')
    expect(one.shown.join('\n')).toContain('switchboard init claude-code --agent claude')
    expect(one.shown.at(-1)).toBe('Next: switchboard up')
  })

  it('[I18.wizard-tried] a key that is typed wrong is asked for again, also where flags said the rest; it is shown nowhere', async () => {
    const api = await createFakeLlm({ key: 'sk-right-4718', script: () => ({ text: 'hi' }) }).listen()
    onTestFinished(() => api.close())
    const { asked, shown, terminal } = person({ 'API key': ['sk-wrong-4718', 'sk-right-4718'], Start: false })
    const flags = ['--provider', 'anthropic', '--model', 'm1', '--base-url', api.url]
    const told = await init(['--platform', 'web', '--agent', 'llm', ...flags], terminal)
    expect([told.code, shown.join('\n')]).toEqual([0, expect.stringContaining('once more, or Ctrl-C')])
    expect(asked.filter((ask) => ask.startsWith('API key'))).toHaveLength(2)
    expect(file()).toContain('api_key: secret:')
    expect(file() + told.out + told.err + shown.join('\n')).not.toContain('4718')
  })

  it('[I18.wizard-tried] what the prompts are told carries no colours, which they would show as remains', async () => {
    const tried = [...(await telegram()), '--telegram-token', '123:wrong-token', '--color']
    const one = person({ 'Where do people talk': ['telegram'], 'Who answers': 'demo', Start: false })
    const told = await init(tried, one.terminal)
    expect(told).toMatchObject({ code: 1, err: expect.stringContaining('401') })
    expect(one.shown.join('\n')).toContain('warning: --telegram-token')
    expect(one.shown.join('\n')).not.toContain('\x1b')
  })

  it('[I18.wizard-ctrl-c] given up when the file stands, it is not said that nothing was written', async () => {
    const one = person({ 'Where do people talk': ['web'], 'Who answers': 'demo' })
    const told = await init([], one.terminal)
    expect([told.code, told.err]).toEqual([0, ''])
    expect(one.asked.at(-1)).toContain('Start it now')
    expect(one.shown.at(-1)).toBe('Next: switchboard up')
    expect(file()).toContain('- id: web')
  })

  it('[I18.wizard-ctrl-c] given up at any question, nothing is there', async () => {
    for (const answers of [
      {},
      { 'Where do people talk': ['webhook'] },
      { 'Where do people talk': ['webhook'], 'secret that': 'x' },
    ]) {
      const told = await init([], person(answers).terminal)
      expect(told).toMatchObject({ code: 1, err: expect.stringContaining('nothing was written') })
      expect(readdirSync(folder.path)).toEqual([])
    }
  })
})

it('[I18.wizard-lazy] the prompts are named by one file alone, and that one is loaded when something is asked', () => {
  const root = new URL('../../', import.meta.url)
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!\.test)\.ts$/.test(name),
  )
  const naming = (text: string) =>
    files.filter((name) => readFileSync(new URL(name, root), 'utf8').includes(text))
  expect(naming("'@clack/prompts'")).toEqual(['cli/wizard/clack-prompts.ts'])
  expect(naming('clack-prompts.ts')).toEqual(['cli/terminal.ts'])
  const terminal = readFileSync(new URL('cli/terminal.ts', root), 'utf8')
  expect(terminal).toMatch(/await import\(.*clack-prompts/)
  expect(terminal).not.toMatch(/^import .*clack-prompts/m)
})
