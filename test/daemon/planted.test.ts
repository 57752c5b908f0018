// Distinctive secrets are planted wherever one can be, everything is exercised, failures included, and then every log
// line, output, answer, page, export and file is searched for them.
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BINARY, bareEnvironment, type Daemon } from '../faults/daemon.ts'
import { post } from '../faults/hook-client.ts'
import { settled } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, type Ran, run, switchboard } from '../faults/scene.ts'
import { pause, until } from '../faults/until.ts'
import { callApi, githubSignature, listen, writeYaml } from './admin.ts'

const scene = createScene()

/** Nothing else could hold such a word by chance. */
const planted = (name: string) => `PLANTED-${name}-${randomBytes(9).toString('hex')}`

function secretsOf() {
  return {
    hookKey: planted('hookKey'),
    fileKey: planted('fileKey'),
    shelfKey: planted('shelfKey'),
    outKey: planted('outKey'),
    outPath: planted('outPath'),
    admin: planted('admin'),
    telegram: `123456:${planted('telegram')}`,
    inline: planted('inline'),
    refused: planted('refused'),
    storePassword: planted('storePassword'),
    key: randomBytes(32).toString('hex'),
  }
}

type Planted = ReturnType<typeof secretsOf>

const YAML = (api: string) => `server: { admin_token: env:ADMIN }
tunables: { send_retry_base: 100ms, send_expiry: 1s }
integrations:
  - { id: web, platform: web }
  - { id: ci, platform: webhook, secret: env:HOOK_KEY, two_way: true }
  - { id: plain, platform: webhook, secret: "file:plain.secret", signature: plain, out: { url: env:OUT_URL, secret: env:OUT_KEY, allow_private: true } }
  - { id: shelf, platform: webhook, secret: "secret:SHELF_KEY" }
  - { id: tg, platform: telegram, token: env:TELEGRAM, api_root: "${api}" }
agents:
  - id: demo
    connector: { type: demo }
    messaging: { allow: ["*"] }
    inbound_bindings:
      - { plugin: web, instance: web }
      - { plugin: webhook, instance: ci }
      - { plugin: webhook, instance: plain }
      - { plugin: webhook, instance: shelf }
      - { plugin: telegram, instance: tg }
`

const READS = [
  ...['status', 'doctor', 'turns', 'outbox', 'approvals', 'pairings', 'access', 'tokens', 'secrets'],
  ...['audit/verify', 'audit/export', 'audit/export?format=csv', 'openapi.json', 'nothing', 'turns?state=x'],
].map((path) => `/api/${path}`)

const COMMANDS: readonly (readonly string[])[] = [
  ...['status', 'doctor', 'turns', 'inbox', 'outbox', 'approvals', 'pair', 'access', 'secrets', 'token'].map(
    (name) => [name],
  ),
  ...[
    ['audit', 'verify'],
    ['audit', 'export'],
    ['audit', 'export', '--format', 'csv'],
    ['audit', 'head'],
  ],
  ...[['check'], ['reload'], ['send', 'plain:room', 'hello'], ['send', 'tg:5', 'hello']],
]

/** Everything that came out, with a name for each, so that a find says where. */
function createHaystack() {
  const found: { readonly where: string; readonly text: string }[] = []
  return {
    add: (where: string, text: string) => void found.push({ where, text }),
    addRun(where: string, ran: Ran) {
      found.push({ where, text: ran.stdout }, { where: `${where} (stderr)`, text: ran.stderr })
    },
    search: (words: Readonly<Record<string, string>>) =>
      found.flatMap(({ where, text }) =>
        Object.entries(words)
          .filter(([, word]) => text.includes(word) || text.includes(encodeURIComponent(word)))
          .map(([name]) => `${name} in ${where}`),
      ),
    size: () => found.length,
  }
}

/** Every file of a folder, as bytes that can be searched. */
function filesOf(folder: string): readonly (readonly [string, string])[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [path, readFileSync(path, 'latin1')] as const)
}

async function talk(daemon: Daemon, secrets: Planted): Promise<string[]> {
  const answers: string[] = []
  const say = async (id: string, headers: Record<string, string>, body = 'hello') =>
    answers.push((await post(`${daemon.url}/hooks/${id}`, body, headers)).text)
  await say('ci', { 'x-hub-signature-256': githubSignature(secrets.hookKey, 'hello') })
  await say('ci', { 'x-hub-signature-256': githubSignature(secrets.hookKey, 'deploy') }, 'deploy')
  await say('ci', { 'x-hub-signature-256': `sha256=${secrets.hookKey}` })
  await say('ci', { 'x-webhook-secret': secrets.hookKey })
  await say('plain', { 'x-webhook-secret': secrets.fileKey, 'x-conversation': 'room' })
  await say('plain', { 'x-webhook-secret': `${secrets.fileKey}x` })
  await say('shelf', { 'x-hub-signature-256': githubSignature(secrets.shelfKey, '{"') }, '{"')
  await say('nowhere', { authorization: `Bearer ${secrets.admin}` })
  return answers
}

describe('secrets that were planted everywhere', () => {
  it('[I3.secrets-planted] [S12.no-secret-printed] [S3.secret-not-logged] [S12.minted-hashed] are in no log line, error, JSON output, page, audit export or file', async () => {
    const secrets = secretsOf()
    const { storePassword: _, ...used } = secrets
    const data = scene.folder()
    const place = scene.folder()
    const hay = createHaystack()
    const listener = await listen(scene)
    listener.answerWith(401)
    writeFileSync(join(place, 'plain.secret'), `${secrets.fileKey}\n`, { mode: 0o600 })
    const api = new URL(listener.url).origin
    const config = writeYaml(place, YAML(api))
    const env = {
      SWITCHBOARD_LOG: 'debug',
      SWITCHBOARD_KEY: secrets.key,
      ADMIN: secrets.admin,
      HOOK_KEY: secrets.hookKey,
      OUT_KEY: secrets.outKey,
      OUT_URL: `${api}/${secrets.outPath}`,
      TELEGRAM: secrets.telegram,
    }
    const daemon = await scene.start({ data, config, env })
    const admin = (method: string, path: string, body?: unknown) =>
      callApi(daemon, secrets.admin, method, path, body)

    // The encrypted store, with values that are taken and one that is refused.
    expect((await admin('PUT', '/api/secrets/SHELF_KEY', { value: secrets.shelfKey })).status).toBe(200)
    const huge = await admin('PUT', '/api/secrets/HUGE', { value: secrets.refused.repeat(4_000) })
    expect(huge.status).toBe(413)
    hay.add('a refused secret', huge.text)
    hay.add('a malformed secret', (await admin('PUT', '/api/secrets/X', { valeu: secrets.refused })).text)
    hay.addRun('secrets set', await switchboard(data, 'secrets', 'set', 'TWICE', '--value', secrets.refused))
    hay.addRun('secrets rotate', await switchboard(data, 'secrets', 'rotate', '--json'))

    // What we mint: shown once where it was asked for, and nowhere else.
    const minted: Record<string, string> = {}
    for (const [name, ...args] of [
      ['agent', '--agent', 'demo'],
      ['notify', '--agent', 'demo', '--kind', 'notify'],
      ['admin', '--kind', 'admin'],
    ] as const)
      minted[`minted ${name}`] = (await askJson<{ token: string }>(data, 'token', 'mint', ...args)).token
    const { url } = await askJson<{ url: string }>(data, 'link')
    const ticket = new URL(url).hash.replace('#ticket=', '')
    minted.ticket = ticket
    const page = (path: string, headers: Record<string, string> = {}, body?: unknown) =>
      fetch(`${daemon.url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json', origin: daemon.url, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    const entered = await page('/chat/session', {}, { ticket })
    expect(entered.status).toBe(200)
    hay.add('entering the chat', await entered.text())
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
    minted.cookie = cookie.slice(cookie.indexOf('=') + 1)
    expect(minted.cookie.length).toBeGreaterThan(20)
    hay.add('a used ticket', await (await page('/chat/session', {}, { ticket })).text())
    hay.add(
      'saying',
      await (await page('/chat/messages', { cookie }, { text: 'hi', clientId: 'page-0001' })).text(),
    )
    for (const path of ['/chat', '/chat/me', '/chat/history', '/healthz', '/readyz', '/metrics', '/'])
      hay.add(path, await (await page(path, { cookie })).text())

    for (const answer of await talk(daemon, secrets)) hay.add('a hook', answer)
    for (const bearer of [secrets.admin, `${secrets.admin}x`, minted['minted agent'] ?? '', ticket]) {
      for (const path of READS) hay.add(`GET ${path}`, (await callApi(daemon, bearer, 'GET', path)).text)
      const rpc = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'notify_user', arguments: { message: 'x' } },
      }
      hay.add('/mcp/notify', (await callApi(daemon, bearer, 'POST', '/mcp/notify', rpc)).text)
    }
    await until('the question waits', async () => (await askLines(data, 'approvals', 'list')).length > 0)

    // A broken file with secrets written in it, noticed by the daemon and by the commands.
    const good = YAML(api)
    for (const broken of [
      good.replace('env:HOOK_KEY', secrets.inline),
      good.replace('token: env:TELEGRAM', `tokn: "${secrets.inline}"`),
      good.replace('secret: env:OUT_KEY', `secret: {a: "${secrets.inline}"}`),
      `${good}store: "mysql://u:${secrets.inline}@db/x"\n`,
      `${good}"${secrets.inline}\n`,
    ]) {
      writeYaml(place, broken)
      hay.addRun('reload', await switchboard(data, 'reload', '--json'))
      hay.addRun('check', await switchboard(data, 'check', '--config', config))
      hay.addRun('check --json', await switchboard(data, 'check', '--config', config, '--json'))
      hay.addRun('status', await switchboard(data, 'status'))
      hay.addRun('doctor', await switchboard(data, 'doctor', '--verbose'))
    }
    writeYaml(place, good)

    for (const command of COMMANDS) {
      for (const form of [[], ['--json']]) {
        const ran = await run(
          process.execPath,
          [BINARY, ...command, ...form, '--config', config, '--data', data],
          data,
        )
        hay.addRun(`${command.join(' ')} ${form.join('')}`, ran)
      }
    }
    // Let what was refused by the other side be tried again and given up.
    await pause(500)
    hay.add('the outbox', (await switchboard(data, 'outbox', '--json')).stdout)
    await daemon.terminate()
    const log = daemon.stderr()
    expect(daemon.log().length).toBeGreaterThan(5)
    hay.add('the log', log)
    for (const command of [['status'], ['turns'], ['secrets'], ['token'], ['audit', 'verify']])
      hay.addRun(
        `${command.join(' ')} alone`,
        await run(process.execPath, [BINARY, ...command, '--json', '--config', config, '--data', data], data),
      )
    for (const [path, bytes] of filesOf(data)) hay.add(path, bytes)

    expect(hay.size()).toBeGreaterThan(150)
    // The search finds what is there: words that were said, and the failure at the platform that was given a token.
    const said = hay.search({ said: 'hello' })
    for (const where of ['switchboard.db', 'turns --json', '/api/turns'])
      expect(said.some((found) => found.includes(where))).toBe(true)
    expect(hay.search({ failure: '"tg"' })).toContain('failure in the log')
    expect(hay.search({ ...used, ...minted })).toEqual([])
    expect(listener.taken).toEqual([])
  })

  it("[I3.secrets-planted] [S12.no-secret-printed] a store's password is not told when the store cannot be reached", async () => {
    const { storePassword } = secretsOf()
    const data = scene.folder()
    for (const [name, yaml, env] of [
      [
        'by reference',
        'store: env:DATABASE_URL\n',
        { DATABASE_URL: `postgres://sb:${storePassword}@127.0.0.1:1/sb` },
      ],
      [
        'in the file',
        `store: "postgres://sb:${storePassword}@127.0.0.1:1/sb?password=${storePassword}"\n`,
        {},
      ],
      ['no store at all', 'store: env:DATABASE_URL\n', { DATABASE_URL: `nonsense ${storePassword}` }],
    ] as const) {
      const config = writeYaml(data, yaml)
      const args = [BINARY, 'up', '--port', '0', '--config', config, '--data', data]
      const given = Object.entries({ ...bareEnvironment(), SWITCHBOARD_LOG: 'debug', ...env })
      const ran = await run(
        'env',
        [...given.map(([key, value]) => `${key}=${value}`), process.execPath, ...args],
        data,
      )
      expect([name, ran.code === 0]).toEqual([name, false])
      expect(ran.stderr).not.toBe('')
      expect([name, (ran.stdout + ran.stderr).includes(storePassword)]).toEqual([name, false])
      for (const command of ['check', 'status', 'turns']) {
        const read = await switchboard(data, command, '--config', config)
        expect([name, command, (read.stdout + read.stderr).includes(storePassword)]).toEqual([
          name,
          command,
          false,
        ])
      }
    }
  })
})

describe('the ledger', () => {
  it('[S12.export] is exported as NDJSON and as CSV, with and without a daemon, the same', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    await post(`${daemon.url}/hooks/demo`, 'hello', { 'x-sender': 'dev' })
    await post(`${daemon.url}/hooks/demo`, 'let me in', {
      'x-sender': '=HYPERLINK("x"),"',
    })
    await settled(data)
    const live = await until('it is quiet', async () => {
      const once = await switchboard(data, 'audit', 'export')
      await pause(200)
      return (await switchboard(data, 'audit', 'export')).stdout === once.stdout ? once.stdout : null
    })
    const csv = (await switchboard(data, 'audit', 'export', '--format', 'csv')).stdout
    const entries = live
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, at) => at + 1))
    const [head, ...rows] = csv.trim().split('\r\n')
    expect(head?.split(',').slice(0, 7)).toEqual(['seq', 'chain', 'n', 'at', 'kind', 'ref', 'integration'])
    expect(rows).toHaveLength(entries.length)
    // A stranger's name is no formula.
    expect(csv).not.toMatch(/(^|,)"?=/m)
    await daemon.kill9()
    expect((await switchboard(data, 'audit', 'export')).stdout).toBe(live)
    expect((await switchboard(data, 'audit', 'export', '--format', 'csv')).stdout).toBe(csv)
  })
})
