// Users, roles and tokens against the real /api: each opens what it names and nothing more.
import { describe, expect, it } from 'vitest'
import { acknowledged, post } from '../faults/hook-client.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { pause, until } from '../faults/until.ts'
import { adminTokenOf, callApi, writeYaml } from './admin.ts'

const scene = createScene()

const TEAM = `integrations:
  - id: ci
    platform: webhook
    sender_header: X-Sender
    two_way: true
    access: { allow_from: [dev, ada] }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: ci }] }
users:
  - { id: olga, roles: [owner] }
  - { id: ann, identities: ["ci:ada"], roles: [approver] }
  - { id: otto, roles: [operator] }
  - { id: guest }
`

interface Minted {
  readonly token: string
  readonly id: string
  readonly expires_at: string | null
}

const mint = (data: string, ...args: string[]) => askJson<Minted>(data, 'token', 'mint', ...args)

/** Every door of the API, with a body where one is needed. */
const READS = ['status', 'doctor', 'turns', 'outbox', 'pairings', 'access', 'tokens', 'secrets'].map(
  (name) => `/api/${name}`,
)
const WRITES = [
  ['POST', '/api/send', { to: 'ci:dev', text: 'hello', wait_ms: 0 }],
  ['POST', '/api/access/grant', { integration: 'ci', sender: 'eve', right: 'talk' }],
  ['POST', '/api/access/revoke', { integration: 'ci', sender: 'eve', right: 'talk' }],
  ['POST', '/api/secrets/rotate', {}],
  ['POST', '/api/reload', {}],
] as const

const GIVES = [
  ['/api/tokens', { kind: 'agent', scope: {} }],
  ['/api/chorus/ci/connect', {}],
  ['/api/chorus/ci/rotate', {}],
  ['/api/tokens', { kind: 'admin', scope: {} }],
  ['/api/tokens', { kind: 'user', scope: { user: 'olga' } }],
  ['/api/access/grant', { integration: 'ci', sender: 'otto', right: 'approve' }],
  ['/api/chat-link', {}],
  ['/api/integrations', { definition: { id: 'mine', platform: 'webhook' } }],
] as const

describe('roles', () => {
  it('[I3.roles] [S1.authorize-one] [S1.user-identities] owner, approver, operator and guest each open what they name', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data, config: writeYaml(data, TEAM) })
    acknowledged(await post(`${daemon.url}/hooks/ci`, 'deploy', { 'x-sender': 'dev' }))
    const [approval] = await until('the question waits', async () => {
      const rows = await askLines<{ id: string }>(data, 'approvals', 'list')
      return rows.length === 1 ? rows : null
    })
    const tokens = Object.fromEntries(
      await Promise.all(
        ['olga', 'ann', 'otto', 'guest'].map(async (user) => [
          user,
          (await mint(data, '--kind', 'user', '--user', user)).token,
        ]),
      ),
    ) as Record<string, string>
    const opens = async (user: string, method: string, path: string, body?: unknown) =>
      (await callApi(daemon, tokens[user] ?? null, method, path, body)).status

    for (const path of [...READS, '/api/audit/verify', '/api/audit/export', '/api/openapi.json']) {
      const status = await Promise.all(
        ['olga', 'otto', 'ann', 'guest'].map((user) => opens(user, 'GET', path)),
      )
      expect([path, ...status]).toEqual([path, 200, 200, 403, 403])
    }
    for (const [method, path, body] of WRITES) {
      // Sending in the operator's name is the owner's; the rest of the desk is the operator's, too.
      const operator = path === '/api/send' ? 403 : 200
      const status = await Promise.all(
        ['olga', 'otto', 'ann', 'guest'].map((user) => opens(user, method, path, body)),
      )
      expect([path, ...status]).toEqual([path, 200, operator, 403, 403])
    }
    // Nobody hands out what they do not have: an operator must not become owner or approver by way of the desk.
    for (const [path, body] of GIVES) {
      const status = await Promise.all(
        ['otto', 'ann', 'guest'].map((user) => opens(user, 'POST', path, body)),
      )
      expect([path, ...status]).toEqual([path, 403, 403, 403])
    }
    expect(await opens('olga', 'POST', '/api/tokens', GIVES[0][1])).toBe(200)
    const secret = (user: string) => opens(user, 'PUT', '/api/secrets/NAME', { value: 'v' })
    expect([await secret('olga'), await secret('otto')]).toEqual([200, 403])
    const list = '/api/approvals'
    expect(await Promise.all(['ann', 'otto', 'guest'].map((user) => opens(user, 'GET', list)))).toEqual([
      ...[200, 200, 403],
    ])
    const decide = `/api/approvals/${approval?.id}/decide`
    for (const user of ['otto', 'guest'])
      expect(await opens(user, 'POST', decide, { behavior: 'allow' })).toBe(403)
    const decided = await callApi<{ won: boolean; approval: { decided_by: string; decided_via: string } }>(
      ...([daemon, tokens.ann ?? null, 'POST', decide, { behavior: 'allow' }] as const),
    )
    expect(decided).toMatchObject({
      status: 200,
      json: { won: true, approval: { decided_by: 'user:ann', decided_via: 'api' } },
    })
    // An approver hears of approvals alone (src/server/console-session.test.ts), a guest of nothing.
    const hears = async (user: string) => {
      const headers = { authorization: `Bearer ${tokens[user]}` }
      const { status, body } = await fetch(`${daemon.url}/events`, { headers })
      await body?.cancel()
      return status
    }
    expect([await hears('ann'), await hears('guest')]).toEqual([200, 403])
  })

  it('[S1.user-identities] an approver by role decides in the chat; a sender without the role does not', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data, config: writeYaml(data, TEAM) })
    const say = (sender: string, text: string) => post(`${daemon.url}/hooks/ci`, text, { 'x-sender': sender })
    acknowledged(await say('dev', 'deploy'))
    const [approval] = await until('the question waits', async () => {
      const rows = await askLines<{ id: string }>(data, 'approvals', 'list')
      return rows.length === 1 ? rows : null
    })
    expect((await say('dev', `yes ${approval?.id}`)).text).not.toBe('verdict recorded')
    expect(await askLines(data, 'approvals', 'list')).toHaveLength(1)
    expect(await say('ada', `yes ${approval?.id}`)).toMatchObject({ status: 200, text: 'verdict recorded' })
  })

  it('[S1.user-local] with no users configured there is one, and a token may speak for it', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const { token } = await mint(data, '--kind', 'user', '--user', 'local')
    expect((await callApi(daemon, token, 'GET', '/api/status')).status).toBe(200)
    const unknown = await switchboard(data, 'token', 'mint', '--kind', 'user', '--user', 'ann')
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toMatch(/there is no user "ann"[\s\S]*hint: users: local/)
  })
})

describe('tokens', () => {
  it('[S1.token-table] [S1.token-expiry] one table for all: shown once, kept as a hash, dead when expired or revoked', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const admin = adminTokenOf(data)
    const status = async (token: string | null) => (await callApi(daemon, token, 'GET', '/api/status')).status
    expect(await status(null)).toBe(401)
    expect(await status(`${admin}x`)).toBe(401)
    expect(await status(admin)).toBe(200)

    const lasting = await mint(data, '--kind', 'admin')
    const agent = await mint(data, '--agent', 'demo')
    const notify = await mint(data, '--agent', 'demo', '--kind', 'notify')
    // By the API, not by the slower command: it is looked at while it is still good.
    const body = { kind: 'admin', ttl_ms: 4_000 }
    const { json: short } = await callApi<Minted>(daemon, admin, 'POST', '/api/tokens', body)
    expect(await status(short.token)).toBe(200)
    expect(await status(lasting.token)).toBe(200)
    // A credential of an agent opens nothing of the operator's.
    expect([await status(agent.token), await status(notify.token)]).toEqual([403, 403])
    await pause(Math.max(0, Date.parse(short.expires_at ?? '') - Date.now()) + 20)
    expect(await status(short.token)).toBe(401)
    expect((await switchboard(data, 'token', 'revoke', lasting.id)).code).toBe(0)
    expect(await status(lasting.token)).toBe(401)
    const rows = await askLines<{ id: string; kind: string; revoked: boolean }>(data, 'token', 'list')
    expect(rows.find((row) => row.id === lasting.id)).toMatchObject({ kind: 'admin', revoked: true })
    for (const { token } of [short, lasting, agent, notify]) expect(JSON.stringify(rows)).not.toContain(token)
    // The page's ticket is in the same table, and is no key to the desk.
    const { url } = await askJson<{ url: string }>(data, 'link')
    const ticket = new URL(url).hash.replace('#ticket=', '')
    expect(await status(ticket)).toBe(401)
    expect((await askLines<{ kind: string }>(data, 'token', 'list')).map((row) => row.kind)).toContain(
      'web-ticket',
    )
  })
})
