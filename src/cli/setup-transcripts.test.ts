// Transcripts of the commands that set something up: what they ask, print and send, and the files that they leave. Compared
// byte by byte with test/golden/files/setup. To take them anew: npx vitest run src/cli/setup-transcripts.test.ts -u
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createPlainText } from '../../test/golden/plain.ts'
import { STATUS } from '../server/fixtures/open-server.ts'
import { cancelled, type Prompts } from '../setup/asker.ts'
import { createFakeTelegram } from '../testing/emulate.ts'
import { createFakeLlm } from '../testing/llm/fake-llm.ts'
import {
  type Canned,
  command,
  rememberingTerminal,
  startFakeDaemon,
  temporaryFolder,
} from './fixtures/fake-daemon.ts'

type Typed = string | readonly string[] | boolean | null

interface Played {
  /** What a person types, in order; nobody sits there when absent. */
  readonly typed?: readonly Typed[]
  /** What is piped in. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** One folder, and the words that stand for what differs from run to run. */
function createScene(words: readonly (readonly [string, string])[] = []) {
  const folder = temporaryFolder()
  onTestFinished(() => folder.done())
  const masks = [...words, [folder.path, '<folder>'], [process.argv[1] ?? '-', '<script>']] as const
  const withoutNumbers = createPlainText([])
  const plain = (text: string) =>
    withoutNumbers(masks.reduce((masked, [word, instead]) => masked.replaceAll(word, instead), text))
  let transcript = ''
  const path = (name: string) => join(folder.path, name)

  /** Runs one command and takes down what is asked, printed and written. */
  async function play(
    line: readonly string[],
    { typed, input = '', env = {} }: Played = {},
  ): Promise<number> {
    const answers = [...(typed ?? [])]
    const spoken: string[] = []
    const next = (ask: string, how: string): Typed => {
      const answer = answers.shift()
      const isShown = answer === undefined || answer === null || !['hidden', 'secret'].includes(how)
      spoken.push(`? ${how} ${ask}`, `> ${isShown ? JSON.stringify(answer ?? null) : '(typed)'}`)
      return answer ?? null
    }
    const prompted = async <T>(ask: string, how: string): Promise<T> => {
      const answer = next(ask, how)
      if (answer === null) throw cancelled()
      return answer as T
    }
    const prompts: Prompts = {
      begin: (title) => void spoken.push(`[ ${title}`),
      end: (text) => void spoken.push(`] ${text}`),
      say: (text, tone = 'info') => void spoken.push(`${tone}: ${text}`),
      show: (title, lines) => void spoken.push(`show: ${title}`, ...lines),
      one: (ask, choices, first) =>
        prompted(
          `${ask} [${choices.map(({ value, label }) => `${value}=${label}`).join(', ')}] ${first}`,
          'one',
        ),
      several: (ask, choices, first) =>
        prompted(
          `${ask} [${choices.map(({ value, label }) => `${value}=${label}`).join(', ')}] ${first}`,
          'several',
        ),
      text: (ask, { fallback } = {}) => prompted(`${ask} [${fallback}]`, 'text'),
      secret: (ask) => prompted(ask, 'secret'),
      yes: (ask) => prompted(ask, 'yes'),
    }
    const terminal = rememberingTerminal({
      cwd: () => folder.path,
      env: { HOME: folder.path, PATH: process.env.PATH, ...env },
      input,
      inputIsTty: typed !== undefined,
      ask: async (question, options) => next(question, options?.hidden ? 'hidden' : 'ask') as string | null,
      prompts: async () => prompts,
      err: (text) => {
        terminal.printed.err += text
        spoken.push(`err: ${text.replace(/\n$/, '')}`)
      },
    })
    const { code, out } = await command(line, terminal)
    transcript += plain(
      `$ switchboard ${line.join(' ')}\n${spoken.map((one) => `${one}\n`).join('')}${out === '' ? '' : `out: ${out}`}exit ${code}\n\n`,
    )
    return code
  }

  /** Takes down every file of the folder but databases and keys. */
  function files(): void {
    const names = readdirSync(folder.path, { recursive: true, encoding: 'utf8' }).toSorted()
    for (const name of names) {
      if (/^(\.switchboard|data|\.local|\.config|\.cache)\b/.test(name) || !statSync(path(name)).isFile())
        continue
      const mode = (statSync(path(name)).mode & 0o777).toString(8)
      transcript += plain(`--- ${name} (${mode})\n${ownScriptMasked(readFileSync(path(name), 'utf8'))}`)
    }
    transcript += '---\n\n'
  }

  return {
    path,
    play,
    files,
    write: (name: string, text: string) => writeFileSync(path(name), text),
    /** The names of the secrets that are kept, and nothing of their values. */
    secrets: () => play(['secrets', 'list']),
    /** Takes down what a canned daemon was asked. */
    requests(
      asked: readonly { readonly method: string; readonly path: string; readonly body: unknown }[],
    ): void {
      const lines = asked.filter(({ method }) => method !== 'GET')
      transcript += plain(
        `${lines.map((one) => `${one.method} ${one.path} ${JSON.stringify(one.body)}\n`).join('')}\n`,
      )
    },
    async matches(name: string): Promise<void> {
      const masked = transcript.replace(/whsec_[A-Za-z0-9+/=]{20,}/g, '<whsec>').replace(/[ \t]+$/gm, '')
      expect(masked).not.toMatch(/planted/)
      await expect(masked).toMatchFileSnapshot(`../../test/golden/files/setup/${name}.txt`)
    },
  }
}

/** How this test process itself was started says nothing. */
const ownScriptMasked = (text: string) =>
  text
    .replaceAll(JSON.stringify(process.execPath), '"<node>"')
    .replace(/"args": \[[\s\S]*?"channel"/, '"args": [ "channel"')

async function telegram() {
  const fake = await createFakeTelegram()
  onTestFinished(() => fake.stop())
  return {
    token: fake.token,
    words: ['--set', `telegram.api_root=${fake.url}`],
    own: ['--set', `api_root=${fake.url}`],
  }
}

async function httpAgent(status = 200) {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"text":"Yes, I am"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/turn`
}

async function llm() {
  const api = await createFakeLlm({
    key: 'sk-planted-4711',
    models: ['m1'],
    script: () => ({ text: 'hi' }),
  }).listen()
  onTestFinished(() => api.close())
  return ['--provider', 'anthropic', '--model', 'm1', '--base-url', api.url]
}

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

it('[I36.golden-setup] the starter of a script', async () => {
  const { play, files, write, matches } = createScene()
  await play(['init', '--yes'])
  files()
  await play(['init', '--yes'])
  await play(['init', '--yes', '--force', '--port', '5050', '--agent', 'kate', '--hook', 'ci', '--json'])
  files()
  for (const wrong of [
    ['--agent', 'no id'],
    ['--hook', 'web'],
    ['--port', '99999'],
    ['--strange', 'x'],
    ['--token'],
    ['one', 'more'],
    ['nothing'],
  ])
    await play(['init', '--yes', '--config', 'b.yaml', ...wrong])
  write('.git', '')
  await play(['init', '--config', 'sub.yaml'])
  files()
  await matches('starter')
})

it('[I36.golden-setup] the starter with an agent', async () => {
  const { play, files, write, secrets, matches } = createScene()
  const url = await httpAgent()
  write('key.txt', 'sk-PLANTED-4711\n'.toLowerCase())
  write('empty.txt', '')
  const key = ['--api-key-file', 'key.txt']
  const api = await llm()
  await play(['init', '--yes', '--agent', 'http', '--url', url])
  await play(['init', '--yes', '--force', '--agent', 'http', '--url', url, '--json'])
  await play(['init', '--yes', '--agent', 'http', '--url', url])
  await play(['init', '--yes', '--config', 'b.yaml', '--agent', 'http'])
  await play(['init', '--yes', '--config', 'b.yaml', '--agent', 'http', '--url', await httpAgent(401)])
  await play(['init', '--yes', '--config', 'b.yaml', '--agent', 'http', '--url', 'ftp://nowhere'])
  await play(['init', '--yes', '--config', 'c.yaml', '--agent', 'llm', ...api, ...key])
  await play(['init', '--yes', '--config', 'c.yaml', '--agent', 'llm', ...api, '--api-key-file', 'none.txt'])
  await play(['init', '--yes', '--config', 'd.yaml', '--agent', 'llm', ...api, '--api-key-file', 'empty.txt'])
  await play(['init', '--yes', '--config', 'd.yaml', '--agent', 'llm', ...api], { input: 'sk-wrong\n' })
  await play(['init', '--yes', '--config', 'd.yaml', '--agent', 'llm', ...api, '--json'], {
    input: 'sk-planted-4711\n',
  })
  await play(['init', '--yes', '--config', 'e.yaml', '--agent', 'channel'])
  await play(['init', '--yes', '--config', 'f.yaml', '--agent', 'acp'])
  await play(['init', '--yes', '--config', 'f.yaml', '--agent', 'llm', '--mode', 'later', ...api])
  write('key.txt', '')
  files()
  await secrets()
  await matches('starter-agent')
})

it('[I36.golden-setup] the wizard by flags', async () => {
  const { token, words } = await telegram()
  const { play, files, secrets, write, matches } = createScene([[token, '<token>']])
  const first = ['init', '--yes', '--no-start', '--platform', 'telegram', ...words]
  await play([
    ...first,
    '--platform',
    'web',
    '--agent',
    'demo',
    '--agent-id',
    'kate',
    '--telegram-token',
    token,
  ])
  files()
  await secrets()
  const wrong = ['--config', 'b.yaml']
  await play([...first, ...wrong])
  await play([...first, ...wrong, '--telegram-token', '123:of-nobody'])
  await play([...first, ...wrong, '--telegram-tokn', '123:of-nobody'])
  await play([...first, ...wrong, '--slack-bot-token', 'x'])
  await play([...first, ...wrong, '--set', 'telegram.id=no id', '--telegram-token', token])
  await play([...first, ...wrong, '--agent-id', 'no id', '--telegram-token', token])
  await play([...first, ...wrong, '--port', '0', '--telegram-token', token])
  await play(['init', '--yes', '--platform', 'fax', ...wrong])
  await play(['init', '--yes', '--platform', 'web', '--agent', 'llm', ...(await llm()), ...wrong], {
    input: 'sk-planted-4711',
  })
  await play([...first, '--agent', 'kate', '--port', '5055', '--json'], { input: `${token}\n` })
  await play([...first, '--agent', 'kate', '--set', 'telegram.id=web'], { input: `${token}\n` })
  await play([...first, '--agent', 'new', '--agent-id', 'kate'], { input: `${token}\n` })
  files()
  await secrets()
  write('c.yaml', 'a: [\n')
  await play([...first, '--config', 'c.yaml'])
  await play(['init', '--yes', '--force', '--no-start', '--platform', 'web', '--config', 'c.yaml'])
  await matches('wizard-flags')
})

it('[I36.golden-setup] the wizard adds to a file', async () => {
  const { play, files, write, matches } = createScene()
  const adding = (name: string, ...more: string[]) =>
    play(['init', '--yes', '--no-start', '--platform', 'webhook', '--config', name, ...more])
  write('own.yaml', OWN)
  await adding('own.yaml', '--agent', 'kate')
  await adding('own.yaml', '--agent', 'leo', '--webhook-secret', 'env:SECRET')
  write('flow.yaml', '# flow\nintegrations: [{ id: web, platform: web }] # all\n')
  await adding('flow.yaml', '--agent', 'demo')
  write(
    'flow-bindings.yaml',
    OWN.replace(/inbound_bindings:\n.*/, 'inbound_bindings: [{ plugin: web, instance: web }] # all'),
  )
  await adding('flow-bindings.yaml', '--agent', 'kate')
  write('unbound.yaml', OWN.replace(/ {4}inbound_bindings:\n.*\n/, ''))
  await adding('unbound.yaml', '--agent', 'kate')
  write('empty-lists.yaml', 'integrations: []\nagents: [] # none yet\n')
  await adding('empty-lists.yaml')
  write('no-newline.yaml', 'server: { host: 127.0.0.1 }')
  await adding('no-newline.yaml')
  write('nothing.yaml', '')
  await adding('nothing.yaml')
  write('own-store.yaml', `store: sqlite:elsewhere.db\n${OWN}`)
  await adding('own-store.yaml', '--agent', 'kate')
  write('invalid.yaml', `nonsense: true\n${OWN}`)
  await adding('invalid.yaml', '--agent', 'kate')
  files()
  await matches('wizard-adds')
})

it('[I36.golden-setup] the wizard at a terminal', async () => {
  const { token, words } = await telegram()
  const { play, files, secrets, matches } = createScene([[token, '<token>']])
  const url = await httpAgent()
  const api = await llm()
  const llmAnswers = (key: string) => ['openai-compatible', 'm1', `${api[5]}/v1`, key]
  await play(['init', ...words], {
    typed: [
      ['web', 'telegram'],
      '123:wrong',
      '',
      token,
      'llm',
      ...llmAnswers(''),
      ...llmAnswers('sk-planted-4711'),
      false,
    ],
  })
  await play(['init', '--force', '--platform', 'web', '--agent', 'llm', ...api], {
    typed: ['sk-wrong', 'sk-planted-4711', false],
  })
  await play(['init', '--platform', 'webhook', '--agent', 'http', '--agent-id', 'leo', '--no-start'], {
    typed: ['', url, 'answer', '', ''],
  })
  await play(['init', '--config', 'b.yaml'], {
    typed: [['web'], 'chorus', 'nonsense', 'https://agent.example/inbox/abc', false],
  })
  await play(['init', '--config', 'c.yaml'], { typed: [['web'], 'channel', false] })
  await play(['init', '--config', 'd.yaml'], { typed: [['webhook'], null] })
  files()
  await secrets()
  await matches('wizard-asked')
})

const added = (more: object): Canned => ({
  ...{
    id: 'telegram',
    platform: 'telegram',
    enabled: true,
    default: false,
    scope: 'bound',
    origin: 'store',
    link: 'up',
  },
  ...more,
})

it('[I36.golden-setup] integrations add', async () => {
  const { token, own } = await telegram()
  const { play, path, requests, matches } = createScene([[token, '<token>']])
  const data = path('data')
  const daemon = await startFakeDaemon(data, {
    'GET /api/integrations': { items: [added({ id: 'there' })], next: null },
    'GET /api/secrets': { items: [{ name: 'kate.token' }], next: null },
    'PUT /api/secrets/telegram.token': { ok: true },
    'PUT /api/secrets/kate.token-2': { ok: true },
    'PUT /api/secrets/ci.secret': { ok: true },
    'DELETE /api/secrets/ci.secret': { ok: true },
    'POST /api/integrations': ({ body }: { body: unknown }) => {
      const { definition } = body as { definition: { id: string; platform: string } }
      if (definition.id === 'ci')
        return { status: 409, body: { ok: false, code: 'conflict', error: 'no room', hint: null } }
      return { body: added({ ...definition, paste: ['paste this'], reach: 'https://t.me/bot' }) }
    },
  })
  onTestFinished(() => daemon.close())
  const add = (more: readonly string[], played: Played = {}) =>
    play(['integrations', 'add', ...more, '--data', data], played)
  await add(['telegram', ...own], { typed: ['', token, 'y'] })
  await add(['telegram', '--id', 'kate', ...own, '--agent', 'kate', '--json'], { input: `${token}\n` })
  await add(['telegram', '--id', 'kate', ...own, '--token', token, '--yes', '--scope', 'kate, leo'])
  await add(['telegram', '--id', 'kate', ...own], { typed: [token, 'n'] })
  await add(['telegram', '--id', 'kate', ...own], { typed: [token, null] })
  await add(['telegram', ...own], { typed: [null] })
  await add(['telegram', ...own], { input: '' })
  await add(['telegram', ...own], { input: '123:wrong' })
  await add(['telegram', '--token', 'env:TOKEN', ...own])
  await add(['tg2', '--platform', 'telegram', '--set', 'token=secret:TG', '--default'])
  await add([`tgram://${token}`, ...own, '--yes'])
  await add(['webhook', '--id', 'ci', '--yes'])
  for (const wrong of [
    [],
    ['telegram', 'more'],
    ['telegram', '--id', 'there'],
    ['fax'],
    ['imap://x'],
    ['telegram', '--tokn', 'x'],
    ['telegram', '--set', 'nonsense', '--token', 'env:A'],
    ['telegram', '--set', 'poll=maybe', '--token', 'env:A'],
    ['telegram', '--set', 'tokn=1', '--token', 'env:A'],
    ['kate', '--platform', 'telegram', '--id', 'leo'],
    ['telegram', '--scope', ',', '--token', 'env:A'],
  ])
    await add(wrong)
  requests(daemon.asked)
  await matches('integrations-add')
})

it('[I36.golden-setup] agents add, set and remove', async () => {
  const { play, path, write, files, requests, matches } = createScene()
  const url = await httpAgent()
  const api = await llm()
  const file = path('switchboard.yaml')
  const daemon = await startFakeDaemon(path('data'), {
    'GET /api/status': { ...STATUS, agents: [{ id: 'taken' }], config: { ...STATUS.config, file } },
    'GET /api/secrets': { items: [{ name: 'old_signing' }], next: null },
    ...Object.fromEntries(
      ['kate_signing', 'kate_signing_secret', 'leo_api_key', 'max_connection_string'].map((name) => [
        `PUT /api/secrets/${name}`,
        { ok: true },
      ]),
    ),
  })
  onTestFinished(() => daemon.close())
  const agents = (words: readonly string[], played: Played = {}) =>
    play(['agents', ...words, '--config', file, '--data', path('data')], played)
  write('switchboard.yaml', OWN.replace('id: kate', 'id: demo'))
  await agents(['add', 'kate', '--http', url])
  await agents(['add', 'kate', '--http', url, '--json'])
  await agents(['add', 'kate', '--http', url, '--write'])
  files()
  await agents(['add', 'leo', '--connector', 'llm', ...api, '--bind', 'webhook:ci', '--json', '--write'], {
    input: 'sk-planted-4711\n',
  })
  await agents(['add', 'leo', '--connector', 'llm', ...api], { typed: ['sk-wrong'] })
  await agents(['add', 'max', '--chorus', 'https://agent.example/inbox/abc', '--allow-private'])
  await agents(['add', 'max', '--chorus', 'https://agent.example/inbox/abc', '--bind', 'webhook:ci'])
  await agents(['add', 'max', '--connector', 'demo', '--write'])
  await agents(['add', 'max', '--connector', 'demo', '--bind', 'telegram:tg', '--write'])
  await agents(['set', 'kate', 'notify_on=failure', 'connector.mode=later'])
  await agents(['set', 'kate', 'notify_on=', 'connector.mode='])
  await agents(['set', 'kate', 'id=leo'])
  await agents(['set', 'kat', 'notify_on=both'])
  await agents(['set', 'kate', 'notify_on=sometimes'])
  await agents(['set', 'kate', 'nonsense'])
  await agents(['set', 'kate'])
  for (const wrong of [
    ['no id', '--connector', 'demo'],
    ['a', 'b', '--connector', 'demo'],
    ['a'],
    ['a', '--connector', 'demo', '--http', url],
    ['a', '--connector', 'dmeo'],
    ['a', '--connector', 'demo', '--tone', 'low'],
    ['a', '--connector', 'llm', '--modle', 'low'],
    ['a', '--connector', 'demo', '--bind', 'web'],
    ['taken', '--http', url, '--write'],
    ['old', '--http', url],
    ['a', '--http', 'ftp://nowhere'],
    ['a', '--connector', 'acp', '--command', '/nonexistent/agent', '--cwd', '.'],
  ])
    await agents(['add', ...wrong])
  await agents(['remove', 'kate'])
  await agents(['remove', 'kate'])
  files()
  requests(daemon.asked)
  await matches('agents')
})

it('[I36.golden-setup] init claude-code', async () => {
  const { play, files, write, path, matches } = createScene()
  await play(['init', 'claude-code'])
  files()
  await play(['init', 'claude-code', '--port', '5050', '--json'])
  await play(['init', 'claude-code', '--agent', 'kate'])
  await play(['init', 'claude-code', '--agent', 'kate', '--force', '--data', path('data')])
  await play(['init', 'claude-code', '--agent', 'no id'])
  await play(['init', 'claude-code', '--port', 'x'])
  await play(['init', 'claude-code', '--token-file', 'x'])
  await play(['init', 'claude-code', '--url', 'https://example.com', '--token-file', 'x', '--force'])
  files()
  write('.mcp.json', '{ "mcpServers": [] }')
  await play(['init', 'claude-code'])
  write('.mcp.json', '{ nonsense')
  await play(['init', 'claude-code'])
  write('.mcp.json', '{ "mcpServers": { "other": { "command": "x" } }, "more": 1 }')
  await play(['init', 'claude-code', '--config', 'c.yaml', '--port', '5051'])
  files()
  expect(existsSync(path('c.yaml'))).toBe(true)
  await matches('claude-code')
})
