// POST /hooks/ID on the real daemon: the shapes that scripts rely on, who is believed, and what a signature is worth.
import { writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acknowledged, post, postDemo } from '../faults/hook-client.ts'
import { settled, turnsOf } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, switchboard } from '../faults/scene.ts'
import { githubSignature, writeYaml } from './admin.ts'

const scene = createScene()

describe('POST /hooks/ID', () => {
  it('[S14.hook-shape] [S14.hook-id-idempotency] [S14.hook-id-github] [S14.hook-duplicate] answers with the id; the message id is the key, else the delivery, else fresh', async () => {
    const data = scene.folder()
    const { url } = await scene.start({ data })
    const say = (headers: Record<string, string>, text = 'hello') =>
      post(`${url}/hooks/demo`, text, { 'x-sender': 'dev', ...headers })
    const first = await say({ 'idempotency-key': 'k1', 'x-github-delivery': 'g1' })
    expect(first.status).toBe(200)
    expect(JSON.parse(first.text)).toEqual({ ok: true, id: expect.any(String), state: 'queued' })
    const { id } = acknowledged(first)
    expect(acknowledged(await say({ 'idempotency-key': 'k1' }, 'hello again'))).toMatchObject({
      id,
      duplicate: true,
    })
    const delivered = acknowledged(await say({ 'x-github-delivery': 'g1' }))
    expect(delivered.id).not.toBe(id)
    expect(acknowledged(await say({ 'x-github-delivery': 'g1' }))).toMatchObject({
      id: delivered.id,
      duplicate: true,
    })
    const bare = [acknowledged(await say({})), acknowledged(await say({}))]
    expect(bare.every((one) => one.duplicate === undefined)).toBe(true)
    const { counts } = await settled(data)
    expect(counts).toMatchObject({ received: 4, answered: 4 })
    expect((await turnsOf(data)).slice(0, 2).map((turn) => turn.message_id)).toEqual(['k1', 'g1'])
  })

  it('[S14.hook-x-sender] [S7.signatures] a header names the sender only where it is trusted, and nothing unsigned is parsed', async () => {
    const data = scene.folder()
    writeFileSync(join(data, 'hook.secret'), 'the hook secret\n', { mode: 0o600 })
    const config = writeYaml(
      data,
      `integrations:
  - { id: open, platform: webhook, sender_header: X-User, access: { allow_from: [dev] } }
  - { id: signed, platform: webhook, secret: "file:hook.secret" }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: open }, { plugin: webhook, instance: signed }] }
`,
    )
    const { url } = await scene.start({ data, config })
    // X-Sender is just another header here; X-User is the trusted one.
    expect((await post(`${url}/hooks/open`, 'hi', { 'x-sender': 'dev' })).status).toBe(403)
    expect((await post(`${url}/hooks/open`, 'hi', { 'x-user': 'dev', 'x-sender': 'mallory' })).status).toBe(
      200,
    )

    const body = JSON.stringify({ action: 'push', message: 'é 🚀' })
    const sign = (signature: string, sent = body) =>
      post(`${url}/hooks/signed`, sent, {
        'x-hub-signature-256': signature,
        'x-user': 'dev',
        'x-sender': 'dev',
      })
    const good = githubSignature('the hook secret', body)
    expect((await sign(good)).status).toBe(200)
    for (const [signature, sent] of [
      ['', body],
      [good, `${body} `],
      [githubSignature('another secret', body), body],
      [good.replace('sha256=', ''), body],
      [good.slice(0, -1), body],
      // Not even JSON: the signature is looked at first, so the answer is the same.
      [good, '{"action":'],
    ] as const)
      expect((await sign(signature, sent)).status).toBe(401)
    await settled(data)
    const turns = await askLines<{ sender: string; integration: string }>(data, 'turns')
    expect(turns.map(({ sender, integration }) => `${integration} ${sender}`).toSorted()).toEqual([
      'open dev',
      'signed webhook',
    ])
  })
})

describe('switchboard hooks', () => {
  it('[I17.hooks-show] [I17.hooks-test] [I17.hooks-replay] shows, tries and replays through the running daemon, and prints no secret', async () => {
    const data = scene.folder()
    const config = writeYaml(
      data,
      `integrations:
  - { id: gh, platform: webhook, recipe: github, secret: env:HOOK_KEY }
  - { id: any, platform: webhook, auth: url_secret, secret: env:HOOK_KEY }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: gh }, { plugin: webhook, instance: any }] }
`,
    )
    const { url } = await scene.start({ data, config, env: { HOOK_KEY: 'planted-hook-key-17' } })
    const shown = await switchboard(data, 'hooks', 'show', 'gh')
    expect(shown.stdout).toContain(`URL: ${url}/hooks/gh`)
    expect(shown.stdout).toContain('X-Hub-Signature-256')

    const tried = await switchboard(
      data,
      'hooks',
      'test',
      'gh',
      '--recipe',
      'github',
      '--event',
      'pull_request',
    )
    expect(tried.code).toBe(0)
    expect(tried.stdout).toMatch(/sent .*pull_request[\s\S]*x-hub-signature-256: sha256=[\s\S]*answered 200/)
    expect(tried.stdout).toContain('octo-org/octo-repo#12 opened by octocat')
    const hidden = await switchboard(data, 'hooks', 'test', 'any', '--json')
    const { turn, state } = JSON.parse(hidden.stdout) as { turn: string; state: string }
    expect(state).toBe('answered')

    const again = await switchboard(data, 'hooks', 'replay', turn, '--json')
    const replay = JSON.parse(again.stdout) as { id: string }
    expect(replay).toMatchObject({ replay_of: turn, state: 'queued' })
    await settled(data)
    const turns = await askLines<{ id: string; address: string; state: string }>(data, 'turns')
    const [first, second] = [turn, replay.id].map((id) => turns.find((one) => one.id === id))
    expect(second).toMatchObject({ address: first?.address, state: 'answered' })

    const wrong = await switchboard(data, 'hooks', 'test', 'gh', '--event', 'nothing')
    expect(wrong.code).not.toBe(0)
    expect(wrong.stderr).toMatch(/hint: events: .*pull_request/)
    expect((await switchboard(data, 'hooks', 'show', 'nothing')).code).toBe(2)
    for (const ran of [shown, tried, hidden, again, wrong])
      expect(ran.stdout + ran.stderr).not.toContain('planted-hook-key-17')
  })
})

describe('senders that were 401', () => {
  const HOOKS = {
    pay: 'recipe: stripe, secret: env:KEY',
    svix: 'auth: standard, secret: env:WHSEC',
    gl: 'recipe: gitlab, secret: env:KEY',
    bb: 'recipe: bitbucket, secret: env:KEY',
    jira: 'recipe: jira, secret: env:KEY',
    shop: 'recipe: shopify, secret: env:KEY',
    lin: 'recipe: linear, secret: env:KEY',
    err: 'recipe: sentry, secret: env:KEY',
    pd: 'recipe: pagerduty, secret: env:KEY',
    slack: 'auth: slack, secret: env:KEY',
    basic: 'auth: { type: basic, user: kate, secret: env:KEY }',
    key: 'auth: { type: header, name: X-Api-Key, value: env:KEY }',
    url: 'auth: url_secret, secret: env:KEY',
    gh: 'recipe: github, secret: env:KEY',
  }

  it('[I17.was-401] [I17.github-session] are taken by a real daemon by configuration alone; a pull request is one session, its ping none', async () => {
    const data = scene.folder()
    const ids = Object.keys(HOOKS)
    const config = writeYaml(
      data,
      `integrations:
${Object.entries(HOOKS)
  .map(([id, keys]) => `  - { id: ${id}, platform: webhook, ${keys} }`)
  .join('\n')}
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [${ids.map((id) => `{ plugin: webhook, instance: ${id} }`).join(', ')}] }
`,
    )
    const env = {
      KEY: 'planted-key-4717',
      WHSEC: `whsec_${Buffer.from('planted-standard-key-4717').toString('base64')}`,
    }
    const daemon = await scene.start({ data, config, env })
    for (const id of ids) {
      // Without a credential it still is none of theirs.
      expect([401, 404], id).toContain((await post(`${daemon.url}/hooks/${id}`, '{}', {})).status)
      const tried = await askJson<{ status: number; state: string }>(data, 'hooks', 'test', id)
      expect([id, tried.status, tried.state]).toEqual([id, 200, 'answered'])
    }
    const event = (name: string) =>
      askJson<{ turn: string | null }>(data, 'hooks', 'test', 'gh', '--event', name)
    expect((await event('ping')).turn).toBeNull()
    const events = ['pull_request', 'pull_request_review', 'issue_comment', 'workflow_run']
    const tried: (string | null)[] = []
    for (const name of events) tried.push((await event(name)).turn)
    const turns = await askLines<{ id: string; session: string; address: string }>(data, 'turns')
    const pull = turns.filter(({ address }) => address.startsWith('gh:') && address.includes('12')).reverse()
    expect(pull.map(({ id }) => id)).toEqual(tried)
    expect(new Set(pull.map(({ session }) => session)).size).toBe(1)
    expect(daemon.stderr() + JSON.stringify(turns)).not.toContain('4717')
  })
})

describe('integrations', () => {
  it('[S1.integration] are accounts of their own: id, secret, policy and scope of one say nothing about the other', async () => {
    const data = scene.folder()
    const config = writeYaml(
      data,
      `integrations:
  - { id: ci, platform: webhook, secret: env:CI, signature: plain, two_way: true, scope: all }
  - { id: ops, platform: webhook, secret: env:OPS, signature: plain, access: { allow_from: [somebody] } }
agents:
  - { id: demo, connector: { type: demo }, inbound_bindings: [{ plugin: webhook, instance: ci }, { plugin: webhook, instance: ops }] }
`,
    )
    const { url } = await scene.start({ data, config, env: { CI: 'the ci secret', OPS: 'the ops secret' } })
    const say = async (id: string, secret: string) =>
      (await post(`${url}/hooks/${id}`, 'hi', { 'x-webhook-secret': secret })).status
    expect([await say('ci', 'the ci secret'), await say('ci', 'the ops secret')]).toEqual([200, 401])
    // Known by its secret, and still not on the list of this one.
    expect([await say('ops', 'the ops secret'), await say('ops', 'the ci secret')]).toEqual([403, 401])
    await settled(data)
    const turns = await askLines<{ integration: string; state: string; reason: string }>(data, 'turns')
    expect(turns.map(({ integration, state, reason }) => [integration, state, reason]).toSorted()).toEqual([
      ['ci', 'answered', null],
      ['ops', 'refused', 'sender_not_allowed'],
    ])
  })
})

describe('the address', () => {
  it('[S14.loopback] [S14.public-needs-token] listens on loopback; elsewhere only with an admin token of the operator', async () => {
    const data = scene.folder()
    const daemon = await scene.start({ data })
    const { port } = new URL(daemon.url)
    expect((await postDemo(daemon.url, 'near')).status).toBe(200)
    const outside = Object.values(networkInterfaces())
      .flatMap((each) => each ?? [])
      .find((each) => each.family === 'IPv4' && !each.internal)
    if (outside) {
      const refused = await new Promise<string>((resolve) => {
        request({ host: outside.address, port, path: '/healthz', timeout: 2_000 }, () => resolve('answered'))
          .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'))
          .once('timeout', () => resolve('silence'))
          .end()
      })
      expect(refused).not.toBe('answered')
    }
    await daemon.terminate()

    for (const host of ['0.0.0.0', '::']) {
      const ran = await switchboard(data, 'up', '--port', '0', '--host', host)
      expect(ran).toMatchObject({ code: 2, stdout: '' })
      expect(ran.stderr).toMatch(/admin token[\s\S]*hint: /)
    }
    const config = writeYaml(data, 'server: { host: 0.0.0.0, admin_token: env:ADMIN }\n')
    const open = await scene.start({ data, config, env: { ADMIN: 'a-token-of-the-operator' } })
    const near = `http://127.0.0.1:${new URL(open.url).port}`
    const asked = (token: string) =>
      fetch(`${near}/api/status`, { headers: { authorization: `Bearer ${token}` } }).then((got) => got.status)
    expect([await asked('a-token-of-the-operator'), await asked('x')]).toEqual([200, 401])
    // Short ones are refused: they could be guessed.
    await open.terminate()
    const weak = scene.launch({ data, config, env: { ADMIN: 'short' } })
    expect((await weak.exited).code).toBe(2)
    expect(weak.stderr()).toContain('shorter than 16 characters')
  })
})
