// Every route of the server with every kind of credential, over a real listener: who gets in, who is refused how, and that
// whoever is refused reached nothing. Routes are read from the server's own tables and sources: one without a row fails.
import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/operations/index.ts'
import { SECRET as HOOK_SECRET } from '../../src/platforms/webhook/fixtures/webhook-requests.ts'
import { TOKEN } from '../../src/server/fixtures/open-server.ts'
import { RIGHTS } from '../../src/server/fixtures/rights-table.ts'
import { ROOT } from '../house/source.ts'
import { type EveryDoor, openEveryDoor, SLACK_SECRET } from './fixtures/every-route.ts'

let doors: EveryDoor
beforeAll(async () => {
  doors = await openEveryDoor()
})
afterAll(() => doors.close())

interface Given {
  readonly headers: Readonly<Record<string, string>>
  /** What would stand in a URL that is the credential. */
  readonly secret: string
}

const bearer = (token: string): Given => ({ headers: { authorization: `Bearer ${token}` }, secret: token })
const mint = async (kind: string, scope: Record<string, string>, ttlMs: number | null = null) =>
  doors.tokens.mint({ kind, scope, ttlMs })
const minted = (kind: string, scope: Record<string, string>) => async () =>
  bearer((await mint(kind, scope)).token)
const revoked = (kind: string, scope: Record<string, string>) => async () => {
  const { token, id } = await mint(kind, scope)
  await doors.tokens.revoke(id, 'test')
  return bearer(token)
}
const expired = (kind: string, scope: Record<string, string>) => async () => {
  const { token } = await mint(kind, scope, 1)
  await doors.age(2)
  return bearer(token)
}
const user = (id: string) => minted('user', { user: id })
const KATE = { agent: 'kate' }
const WEB = { integration: 'web', sender: 'owner' }
const cookie = async (headers: Record<string, string>): Promise<Given> => {
  const { token } = await mint('web', WEB)
  return { headers: { cookie: `swb_chat_${new URL(doors.origin).port}=${token}`, ...headers }, secret: token }
}
const sent = async (given: Promise<Given>, headers: Record<string, string>): Promise<Given> => {
  const { headers: own, secret } = await given
  return { headers: { ...own, ...headers }, secret }
}
const admin = async () => bearer(TOKEN)
const agent = minted('agent', KATE)
const EVIL = { origin: 'https://evil.example' }

const BUTTON = `payload=${encodeURIComponent('{"type":"block_actions"}')}`
/** As Slack signs what is pressed, `ago` seconds ago. */
const pressed =
  (ago: number, body = BUTTON, secret = SLACK_SECRET) =>
  async (): Promise<Given> => {
    const time = String(Math.floor(Date.now() / 1_000) - ago)
    const mac = createHmac('sha256', secret).update(`v0:${time}:${body}`).digest('hex')
    return { headers: { 'x-slack-request-timestamp': time, 'x-slack-signature': `v0=${mac}` }, secret: mac }
  }
const TURN = { agent: 'bot', session: 's', turn: 't_x_1' }

/** Minted for each request: some routes end the session that asks. */
const CREDENTIALS: Readonly<Record<string, () => Promise<Given>>> = {
  none: async () => ({ headers: {}, secret: '' }),
  'made up': async () => bearer('agent_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'),
  'a name of every object': async () => bearer('__proto__'),
  'expired user': expired('user', { user: 'owner' }),
  'expired agent': expired('agent', KATE),
  'expired callback': expired('chorus-callback', KATE),
  'expired web': expired('web', WEB),
  'revoked admin': revoked('admin', {}),
  'revoked agent': revoked('agent', KATE),
  'revoked callback': revoked('chorus-callback', KATE),
  'revoked inbox': revoked('chorus-inbox', { integration: 'miriad' }),
  'revoked web': revoked('web', WEB),
  admin,
  'minted admin': minted('admin', {}),
  'admin, not as a bearer': async () => ({
    headers: {
      authorization: `Basic ${btoa(`admin:${TOKEN}`)}`,
      cookie: `swb_chat_${new URL(doors.origin).port}=${TOKEN}`,
      'x-api-key': TOKEN,
    },
    secret: TOKEN,
  }),
  'admin of another page': () => sent(admin(), EVIL),
  'admin by another name': () => sent(admin(), { host: 'evil.example' }),
  owner: user('owner'),
  operator: user('operator'),
  approver: user('approver'),
  viewer: user('viewer'),
  guest: user('guest'),
  'a user who is gone': user('nobody-any-more'),
  agent,
  'agent of another page': () => sent(agent(), EVIL),
  'an agent who is gone': minted('agent', { agent: 'gone' }),
  session: minted('session', { ...KATE, session: 's' }),
  notify: minted('notify', KATE),
  callback: minted('chorus-callback', KATE),
  inbox: minted('chorus-inbox', { integration: 'miriad' }),
  'web ticket': minted('web-ticket', WEB),
  'web bearer': minted('web', WEB),
  'web of another chat': minted('web', { integration: 'other', sender: 'owner' }),
  'web cookie': () => cookie({ origin: doors.origin }),
  'web cookie without a page': () => cookie({}),
  'web cookie of another page': () => cookie(EVIL),
  hook: async () => bearer(HOOK_SECRET),
  'reply url': minted('chorus-callback', TURN),
  'expired reply url': expired('chorus-callback', TURN),
  'revoked reply url': revoked('chorus-callback', TURN),
  'reply url of no turn': minted('chorus-callback', { agent: 'bot' }),
  slack: pressed(0),
  'slack of ten minutes ago': pressed(600),
  'slack for another body': pressed(0, 'payload=%7B%7D'),
  'slack of another app': pressed(0, BUTTON, 'another secret'),
}
const SIGNED = ['slack', 'slack of ten minutes ago', 'slack for another body', 'slack of another app']
const ALL = Object.keys(CREDENTIALS)

/** Who passes; who else gets something other than the usual refusal of the route. */
interface Row {
  readonly pass: readonly string[]
  readonly refused: number
  readonly but?: Readonly<Record<string, number>>
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Of a pass. */
  readonly status?: number
}

/** Of the pages: another name of this server, or a change from another page, is refused before anybody is asked. */
const foreign = (method: string): Record<string, number> => ({
  'admin by another name': 403,
  ...(method === 'GET'
    ? {}
    : { 'admin of another page': 403, 'agent of another page': 403, 'web cookie of another page': 403 }),
})
const KNOWN = [
  'owner',
  'operator',
  'approver',
  'viewer',
  'guest',
  'agent',
  'agent of another page',
  'an agent who is gone',
]
/** Credentials that say who it is, to the API: what they may not is 403, and not 401. */
const NAMED = [...KNOWN, 'session', 'notify', 'web bearer', 'web of another chat']
const AS_ADMIN = ['admin', 'minted admin', 'admin of another page', 'admin by another name']
const forbidden = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, 403]))

function apiRow(method: string, roles: readonly string[], body?: unknown): Row {
  const but = { ...forbidden(NAMED.filter((name) => !roles.includes(name))), ...foreign(method) }
  const may = [...AS_ADMIN, ...roles.filter((role) => role !== 'admin')]
  return {
    pass: may.filter((name) => but[name] === undefined),
    ...{ refused: 401, but },
    ...(method === 'GET'
      ? {}
      : { body: JSON.stringify(body ?? {}), headers: { 'content-type': 'application/json' } }),
  }
}

const open = (except: readonly string[] = [], status = 200): Row => ({
  pass: ALL.filter((name) => !except.includes(name)),
  ...{ refused: 403, status },
})
const SESSION = ['web bearer', 'web cookie', 'web cookie without a page']
const chat = (method: string, status = 200, body = '{}'): Row => {
  // The chat looks at the page of a read too; a change by cookie needs one.
  const but = {
    ...{ 'admin of another page': 403, 'agent of another page': 403, 'web cookie of another page': 403 },
    ...{
      'admin by another name': 403,
      ...(method === 'GET' ? {} : { ...forbidden(['none', ...SIGNED]), 'web cookie without a page': 403 }),
    },
    ...(method === 'GET' ? {} : { 'admin, not as a bearer': 403 }),
  }
  const pass = SESSION.filter((name) => !(name in but))
  const post = method === 'GET' ? {} : { body, headers: { 'content-type': 'application/json' } }
  return { pass, refused: 401, but, status, ...post }
}
const TOOLS = ['agent', 'session', 'notify']
const rpc = (method: string, params: object): Row => ({
  ...{ pass: TOOLS, refused: 401, status: 200, but: foreign('POST') },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
})
const READ_DESK = apiRow('GET', ['admin', 'owner', 'operator', 'viewer'])
const HOOK = { refused: 401, pass: ['hook'] }
const OVER = ['expired callback', 'revoked callback', 'expired reply url', 'revoked reply url']
const CALLBACK: Row = {
  ...{ pass: ['callback', 'reply url'], refused: 404, status: 200 },
  but: Object.fromEntries(OVER.map((name) => [name, 410])),
}

/** The doors beside the API. A path ends with `*` where the credential takes that place. */
const DOORS: Readonly<Record<string, Row>> = {
  'GET /healthz': open(),
  'GET /readyz': open(),
  'GET /': open(['admin by another name']),
  'GET /chat': open(['admin by another name']),
  'GET /chat/': open(['admin by another name']),
  'GET /assets/a.js': open(['admin by another name']),
  // An approver hears of approvals alone: src/server/console-session.test.ts.
  'GET /events': { ...apiRow('GET', ['admin', 'owner', 'operator', 'viewer', 'approver']), status: 200 },
  'GET /metrics': { ...READ_DESK, status: 200 },
  'POST /mcp': rpc('tools/list', {}),
  'POST /mcp/notify': rpc('notifications/create', { message: 'x' }),
  'GET /attach': {
    pass: ['admin', 'minted admin', 'owner', 'agent'],
    ...{ refused: 401, status: 101 },
    but: {
      ...forbidden([
        'an agent who is gone',
        'operator',
        'approver',
        'viewer',
        'guest',
        'session',
        'notify',
        'web bearer',
        'web of another chat',
      ]),
      ...foreign('POST'),
    },
    headers: {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  },
  'POST /hooks/ci': { ...HOOK, body: 'hello', status: 200 },
  'GET /hooks/ci/events': { ...HOOK, status: 200 },
  // A sign of life, which agents behind Chorus and behind HTTP may post.
  'POST /callback/*': {
    ...CALLBACK,
    body: '{"status":"working"}',
    headers: { 'content-type': 'application/json' },
  },
  'GET /callback/*?approval=abcde': CALLBACK,
  'GET /callback/*?attachment=f1': CALLBACK,
  'POST /hooks/slack': {
    ...{ pass: ['slack'], refused: 401, body: BUTTON },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  },
  'POST /inbox/*': { pass: ['inbox'], refused: 404, body: '{}' },
  'GET /chat/me': chat('GET'),
  'GET /chat/history': chat('GET'),
  'GET /chat/stream': chat('GET'),
  'GET /chat/files/0123456789abcdef0123456789abcdef': chat('GET', 404),
  'POST /chat/messages': chat('POST', 200, '{"clientId":"0123456789abcdef","text":"hi"}'),
  'POST /chat/delete': chat('POST', 200, '{"id":"0123456789abcdec"}'),
  'GET /chat/connections': chat('GET', 403),
  'POST /chat/tap': chat('POST', 200, '{"clientId":"0123456789abcdee","on":"m1","value":"x"}'),
  'POST /chat/upload': chat('POST', 200, 'bytes'),
  'POST /chat/link': chat('POST'),
  'POST /chat/logout': chat('POST'),
  // Its cookie is its own: whoever may ask the API is nobody here. A sign-in must name the page that it comes from.
  'GET /console/me': { pass: [], refused: 401, but: foreign('GET') },
  'POST /console/logout': { pass: [], refused: 401, but: foreign('POST') },
  'POST /console/session': {
    ...{ pass: [], refused: 403, but: { 'web cookie': 410 }, body: '{"ticket":"made-up"}' },
    headers: { 'content-type': 'application/json' },
  },
  // Its credential is the ticket of the body: no other one makes up for a wrong one.
  'POST /chat/session': {
    ...{ pass: [], refused: 410, but: foreign('POST'), body: '{"ticket":"made-up"}' },
    headers: { 'content-type': 'application/json' },
  },
}

const API: Readonly<Record<string, Row>> = Object.fromEntries(
  Object.entries({ ...RIGHTS, 'GET /api/openapi.json': RIGHTS['GET /api/status'] ?? [[]] }).map(
    ([route, [roles, body]]) => [route, apiRow(route.split(' ')[0] ?? '', roles, body)],
  ),
)

async function tried(route: string, row: Row, name: string): Promise<number> {
  const [method = '', pattern = ''] = route.split(' ')
  const given = await (CREDENTIALS[name] as () => Promise<Given>)()
  const query = pattern === '/api/people/export' ? '?who=chat:mallory' : ''
  const filled = pattern.replaceAll('{address}', 'chat%3Amallory').replaceAll(/\{\w+\}/g, 'x1')
  const path = filled.replace('*', () => encodeURIComponent(given.secret))
  const { body = '' } = row
  return doors.ask({ method, path: path + query, headers: { ...row.headers, ...given.headers }, body })
}

const source = (file: string) => readFileSync(join(ROOT, file), 'utf8')
const found = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, one]) => one ?? '')

describe('[I14.attack-routes] the table is whole', () => {
  it('every route of the API has a row', () => {
    const routes = OPERATIONS.map(({ method, path }) => `${method} ${path}`)
    expect(Object.keys(API).sort()).toEqual([...routes, 'GET /api/openapi.json'].sort())
  })

  it('every path that the front door, the chat and the tools know has a row', () => {
    const front = ['handle-request', 'pages', 'serve-endpoint', 'request-context']
      .map((file) => source(`src/server/${file}.ts`))
      .join('\n')
    const paths = [
      ...found(front, /path(?: ===|\.startsWith\() ?'(\/[^']*)'/g),
      ...found(front, /^const [A-Z]+ = '(\/[^']*)'/gm),
      ...found(front, /segments\[0\] === '([^']*)'/g).map((name) => `/${name}`),
      ...found(source('src/tools/mcp/create-mcp-endpoint.ts'), /head\.path === '(\/\w+)'/g).map(
        (path) => `/mcp${path}`,
      ),
    ]
    expect(paths.length).toBeGreaterThan(15)
    const rows = [...Object.keys(DOORS), ...Object.keys(API)].map((route) => route.split(' ')[1] ?? '')
    for (const path of paths)
      expect([path, rows.some((row) => row === path || row.startsWith(path.replace(/\/?$/, '/')))]).toEqual([
        path,
        true,
      ])
    const chat = readdirSync(join(ROOT, 'src/platforms/web')).filter((file) => !file.endsWith('.test.ts'))
    const own = chat
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => found(source(`src/platforms/web/${file}`), /'((?:GET|POST) \/\w+)'/g))
    expect(new Set(own).size).toBeGreaterThan(9)
    for (const route of own) expect(Object.keys(DOORS)).toContain(route.replace(' ', ' /chat'))
  })

  it('names credentials that exist', () => {
    for (const { pass, but = {} } of Object.values({ ...DOORS, ...API }))
      for (const name of [...pass, ...Object.keys(but)]) expect(ALL).toContain(name)
  })
})

/** Everybody who is to be refused, all at once; nobody of them may reach an operation. */
async function refuses(route: string, row: Row): Promise<void> {
  const before = doors.ran.length
  const through = doors.reached.length
  const names = ALL.filter((name) => !row.pass.includes(name))
  const told = await Promise.all(names.map(async (name) => [name, await tried(route, row, name)]))
  expect(told).toEqual(names.map((name) => [name, row.but?.[name] ?? row.refused]))
  expect(doors.ran.slice(before)).toEqual([])
  expect(doors.reached.slice(through)).toEqual([])
}

it.each(Object.entries(DOORS))('[I14.attack-routes] %s', async (route, row) => {
  await refuses(route, row)
  for (const name of row.pass)
    expect([name, await tried(route, row, name)]).toEqual([name, row.status ?? 200])
})

it.each(Object.entries(API))('[I14.attack-routes] %s', async (route, row) => {
  await refuses(route, row)
  for (const name of row.pass) {
    const before = doors.ran.length
    const status = await tried(route, row, name)
    // What the operation makes of the fake context is not tested here.
    expect([name, [401, 403, 405, 410, 429].includes(status) ? status : 'in']).toEqual([name, 'in'])
    if (route === 'GET /api/openapi.json') expect(status).toBe(200)
    else expect([name, doors.ran.slice(before)]).toEqual([name, [route]])
  }
})
