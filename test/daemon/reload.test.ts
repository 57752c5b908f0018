// The configuration of a running daemon: told by schema, swapped whole, kept when the new one does not hold.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { acknowledged, post } from '../faults/hook-client.ts'
import { type Status, settled, turnsOf } from '../faults/river-checks.ts'
import { askJson, askLines, createScene, run, switchboard } from '../faults/scene.ts'
import { until } from '../faults/until.ts'
import { listen, writeYaml } from './admin.ts'

const scene = createScene()

interface Report extends Status {
  readonly config: { readonly problem: string | null; readonly digest: string; readonly warnings: string[] }
  readonly integrations: readonly { id: string; link: string; detail?: string }[]
}

const hook = (id: string, senders: string, more = '') =>
  `  - { id: ${id}, platform: webhook, sender_header: X-Sender, access: { allow_from: [${senders}] }${more} }\n`
const agent = (id: string, ...bindings: string[]) =>
  `  - { id: ${id}, connector: { type: demo }, inbound_bindings: [${bindings.join(', ')}] }\n`
const bind = (instance: string, more = '') => `{ plugin: webhook, instance: ${instance}${more} }`

const onlyDev = `integrations:\n${hook('ci', 'dev')}agents:\n${agent('demo', bind('ci'))}`
const devAndAda = `integrations:\n${hook('ci', 'dev, ada')}agents:\n${agent('demo', bind('ci'))}`

const say = (url: string, sender: string, text: string, id = 'ci') =>
  post(`${url}/hooks/${id}`, text, { 'x-sender': sender })

describe('switchboard schema', () => {
  it('[S3.schema-command] prints a JSON Schema that editors can use', async () => {
    const data = scene.folder()
    const ran = await switchboard(data, 'schema')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    const schema = JSON.parse(ran.stdout)
    expect(schema.$schema).toContain('json-schema.org')
    expect(Object.keys(schema.properties).toSorted()).toEqual([
      ...['agents', 'integrations', 'mcp_servers', 'modules', 'retention', 'server', 'store'],
      ...['takeover', 'tunables', 'users'],
    ])
    expect(schema.additionalProperties).toBe(false)
    expect(schema.properties.tunables.properties.max_attempts).toMatchObject({ type: 'integer', default: 5 })
    expect((await switchboard(data, 'schema', '--json')).stdout.trim().split('\n')).toHaveLength(1)
  })
})

describe('reload', () => {
  it('[S3.reload-command] [S3.digest] by command: says what came of it, and holds at once', async () => {
    const data = scene.folder()
    const config = writeYaml(data, onlyDev)
    const daemon = await scene.start({ data, config })
    const before = await askJson<Report>(data, 'status')
    expect(before.config.digest).toMatch(/^[0-9a-f]{64}$/)
    expect((await say(daemon.url, 'ada', 'not yet')).status).toBe(403)

    writeYaml(data, devAndAda)
    const told = await switchboard(data, 'reload')
    expect(told).toMatchObject({ code: 0, stderr: '' })
    const after = await askJson<Report>(data, 'status')
    expect(after.config.digest).not.toBe(before.config.digest)
    expect(told.stdout).toBe(`reloaded, digest ${after.config.digest.slice(0, 12)}\n`)
    expect((await say(daemon.url, 'ada', 'now')).status).toBe(200)

    // The digest is of the meaning: the same file elsewhere, with another layout, has the same one.
    const elsewhere = scene.folder()
    const other = writeYaml(elsewhere, `# a comment\n${devAndAda.replaceAll(', ', ',  ')}`)
    await scene.start({ data: elsewhere, config: other })
    expect((await askJson<Report>(elsewhere, 'status')).config.digest).toBe(after.config.digest)
    const doctor = JSON.parse((await switchboard(elsewhere, 'doctor', '--json')).stdout)
    expect(doctor.config.digest).toBe(after.config.digest)
    const boots = await askLines<{ kind: string; ref: string; detail: string }>(data, 'audit', 'export')
    expect(boots.find((entry) => entry.kind === 'boot')?.detail).toContain(before.config.digest)
    expect(boots.find((entry) => entry.kind === 'config')?.ref).toBe(after.config.digest)
  })

  it('[S3.reload-file] [S3.reload-keeps-old] [S3.reload-said] [F7.reload-invalid] [I3.break-and-told] by the file itself: a broken one is told with its place and changes nothing', async () => {
    const data = scene.folder()
    const config = writeYaml(data, onlyDev)
    const daemon = await scene.start({ data, config })
    const status = () => askJson<Report>(data, 'status')
    const before = await status()

    writeYaml(data, `${onlyDev}users:\n  - { id: ann, idenities: ["ci:dev"] }\n`)
    const broken = await until('status tells the problem', async () => {
      const now = await status()
      return now.config.problem === null ? null : now
    })
    expect(broken.config.problem).toMatch(/switchboard\.yaml:6:16/)
    expect(broken.config.problem).toContain('did you mean "identities"?')
    expect(broken.config.digest).toBe(before.config.digest)
    await until('the log tells it', () =>
      daemon.log().find((line) => /the old one stays/.test(line.msg) && line.by === 'the file changed'),
    )
    const doctor = await switchboard(data, 'doctor', '--verbose')
    expect(doctor.code).toBe(1)
    expect(doctor.stdout).toMatch(/stays in force: .*switchboard\.yaml:6:16/)
    const reload = await switchboard(data, 'reload')
    expect(reload).toMatchObject({ code: 2, stdout: '' })
    expect(reload.stderr).toMatch(/error: .*switchboard\.yaml:6:16.*hint: .*stays in force/s)
    expect((await say(daemon.url, 'dev', 'still here')).status).toBe(200)

    // The file is gone: that is no reason to stop either.
    rmSync(config)
    await until(
      'status tells that it is gone',
      async () =>
        /switchboard\.yaml/.test((await status()).config.problem ?? '') &&
        (await status()).config.problem !== broken.config.problem,
    )
    expect((await say(daemon.url, 'dev', 'and here')).status).toBe(200)

    writeYaml(data, devAndAda)
    await until('the mended file holds', async () => {
      const now = await status()
      return now.config.problem === null && now.config.digest !== before.config.digest
    })
    expect((await say(daemon.url, 'ada', 'welcome')).status).toBe(200)
    await settled(data)
    expect((await turnsOf(data)).map(({ state }) => state)).toEqual(['answered', 'answered', 'answered'])
  })

  it('[S3.inflight-rendering] what waits in the outbox keeps the parts it was cut into', async () => {
    const data = scene.folder()
    const listener = await listen(scene)
    listener.answerWith(503)
    const yaml = (limit: number) => `tunables: { send_retry_base: 100ms, send_retry_max: 200ms }
integrations:
  - id: ci
    platform: webhook
    sender_header: X-Sender
    text_chunk_limit: ${limit}
    access: { allow_from: [dev] }
    out: { url: "${listener.url}", allow_private: true }
agents:
${agent('demo', bind('ci'))}`
    const daemon = await scene.start({ data, config: writeYaml(data, yaml(64)) })
    const long = Array.from({ length: 30 }, (_, at) => `word${at}`).join(' ')
    acknowledged(await say(daemon.url, 'dev', long))
    const parts = await until('the answer waits in parts', async () => {
      const rows = await askLines<{ text: string }>(data, 'outbox')
      return rows.length > 1 ? rows.length : null
    })
    writeYaml(data, yaml(4_000))
    expect((await switchboard(data, 'reload')).code).toBe(0)
    listener.answerWith(200)
    await settled(data)
    expect(listener.taken).toHaveLength(parts)
    acknowledged(await say(daemon.url, 'dev', long))
    await settled(data)
    expect(listener.taken).toHaveLength(parts + 1)
  })

  it('[S3.one-bot-many-agents] [S3.scope-agents] bindings with conversations pick theirs, one without takes the rest', async () => {
    const data = scene.folder()
    writeFileSync(join(data, 'bot.secret'), 'the bot secret', { mode: 0o600 })
    const config = writeYaml(
      data,
      `integrations:
  - { id: bot, platform: webhook, secret: "file:bot.secret", signature: plain, two_way: true, scope: { agents: [rest] } }
agents:
${agent('kate', bind('bot', ', conversations: ["-100123", "-100456"]'))}${agent('rest', bind('bot'))}`,
    )
    const daemon = await scene.start({ data, config })
    for (const [conversation, text] of [
      ['-100123', 'to kate'],
      ['-100456', 'to kate too'],
      ['-100999', 'to the rest'],
    ] as const) {
      const headers = { 'x-webhook-secret': 'the bot secret', 'x-conversation': conversation }
      acknowledged(await post(`${daemon.url}/hooks/bot`, text, headers))
    }
    await settled(data)
    const turns = await askLines<{ agent: string; text: string; state: string; session: string }>(
      data,
      'turns',
    )
    expect(turns.map(({ agent: who, text, state }) => `${text} > ${who} ${state}`).toSorted()).toEqual([
      'to kate > kate answered',
      'to kate too > kate answered',
      'to the rest > rest answered',
    ])
    expect(new Set(turns.map((turn) => turn.session)).size).toBe(3)

    writeYaml(
      data,
      `integrations:
  - { id: bot, platform: webhook, secret: "file:bot.secret" }
agents:
${agent('kate', bind('bot', ', conversations: ["-100123"]'))}${agent('rest', bind('bot', ', conversations: ["-100123/42"]'))}`,
    )
    const overlap = await switchboard(data, 'check', '--config', config)
    expect(overlap.code).toBe(2)
    expect(overlap.stderr).toMatch(/overlap/)
  })
})

describe('limits', () => {
  it('[S3.limits-tunable] [S1.binding-limits] [S3.rate-zero] the sender limit holds, a binding has its own, and 0/0 lifts it', async () => {
    const data = scene.folder()
    const config = writeYaml(
      data,
      `tunables: { sender_limit: { rps: 0.001, burst: 2 } }
integrations:
${hook('plain', 'dev, ada')}${hook('own', 'dev')}${hook('free', 'dev')}agents:
${agent('demo', bind('plain'), bind('own', ', rate_limit: { rps: 0.001, burst: 1 }'), bind('free', ', rate_limit: { rps: 0, burst: 0 }'))}`,
    )
    const daemon = await scene.start({ data, config })
    const burst = async (id: string, sender: string) => {
      const said = []
      for (let n = 0; n < 4; n += 1) said.push(await say(daemon.url, sender, `${n}`, id))
      return said
    }
    const plain = await burst('plain', 'dev')
    expect(plain.map(({ status }) => status)).toEqual([200, 200, 429, 429])
    expect(Number(plain[2]?.headers.get('retry-after'))).toBeGreaterThan(100)
    expect((await burst('plain', 'ada')).map(({ status }) => status)).toEqual([200, 200, 429, 429])
    expect((await burst('own', 'dev')).map(({ status }) => status)).toEqual([200, 429, 429, 429])
    expect((await burst('free', 'dev')).map(({ status }) => status)).toEqual([200, 200, 200, 200])

    // A reload holds at once, and what was refused is counted with the key that would change it.
    writeYaml(data, `integrations:\n${hook('plain', 'dev, ada')}agents:\n${agent('demo', bind('plain'))}`)
    expect((await switchboard(data, 'reload')).code).toBe(0)
    expect((await burst('plain', 'dev')).map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { counts } = await settled(data)
    expect(counts).toMatchObject({ received: 20, refused: 7, answered: 13 })
    const ledger = await until('the drops are in the ledger', async () => {
      const lines = await askLines<{ reason: string; detail: string; count: number }>(data, 'audit', 'export')
      const drops = lines.filter((line) => line.reason === 'rate_limited')
      return drops.reduce((sum, line) => sum + line.count, 0) === 7 ? drops : null
    })
    const keys = new Set(ledger.map((line) => (JSON.parse(line.detail) as { key: string }).key))
    expect([...keys].toSorted()).toEqual([
      'agents[0].inbound_bindings[1].rate_limit',
      'tunables.sender_limit',
    ])
  })
})

describe('what is not built or not known', () => {
  it('[I14.connector-not-built] a connector that there is not: check exits 2, up refuses, a reload keeps the old one', async () => {
    const data = scene.folder()
    const unknown = 'agents:\n  - { id: a, connector: { type: nope, command: x } }\n'
    const file = writeYaml(data, unknown)
    for (const verb of ['check', 'up']) {
      const ran = await switchboard(data, verb, '--config', file)
      expect([verb, ran.code, ran.stdout]).toEqual([verb, 2, ''])
      expect(ran.stderr).toMatch(/switchboard\.yaml:2:\d+/)
      expect(ran.stderr).toContain('unknown connector "nope"')
      expect(ran.stderr).toContain('known here: channel, chorus, llm, demo, http, acp, claude-code')
    }
    const daemon = await scene.start({ data, config: writeYaml(data, onlyDev) })
    writeYaml(data, unknown)
    expect(await switchboard(data, 'reload')).toMatchObject({ code: 2, stdout: '' })
    expect((await say(daemon.url, 'dev', 'still here')).status).toBe(200)
  })

  it('[S7.integration-keys] [S6.connector-keys] [S7.keys-webhook] is told as what it is', async () => {
    const data = scene.folder()
    const check = async (yaml: string) => switchboard(data, 'check', '--config', writeYaml(data, yaml))
    for (const [yaml, told] of [
      [
        'integrations:\n  - { id: a, platform: webhook, secret: env:A, twoway: true }\n',
        'did you mean "two_way"',
      ],
      ['integrations:\n  - { id: a, platform: web, secret: env:A }\n', 'unknown key "secret"'],
      ['integrations:\n  - { id: a, platform: webhook }\n', 'needs "auth", "secret"'],
      ['integrations:\n  - { id: a, platform: webhok, secret: env:A }\n', 'webhook'],
      [`agents:\n  - { id: a, connector: { type: demo, modle: x } }\n`, 'unknown key "modle"'],
      [`agents:\n  - { id: a, connector: { type: dmeo } }\n`, 'demo'],
    ] as const) {
      const ran = await check(yaml)
      expect([yaml, ran.code, ran.stdout]).toEqual([yaml, 2, ''])
      expect(ran.stderr).toContain(told)
      expect(ran.stderr).toMatch(/switchboard\.yaml:\d+:\d+/)
    }
    const good = await check(
      `integrations:
  - { id: a, platform: webhook, secret: env:A, signature: github, two_way: true, template: "{{x}}" }
  - { id: b, platform: webhook, sender_header: X-Sender, behind_proxy: true, access: { allow_from: [x] } }
  - { id: c, platform: webhook, secret: env:A, signature: plain, out: { url: env:U, secret: env:S, allow_private: true } }
`,
    )
    expect(good).toMatchObject({ code: 0 })
  })

  it('[S3.default-data] the default keeps everything in ~/.switchboard, relative stores start at the file', async () => {
    const home = scene.folder()
    const ran = await run(
      'env',
      [`HOME=${home}`, process.execPath, (await import('../faults/daemon.ts')).BINARY, 'status', '--json'],
      home,
    )
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain(join(home, '.switchboard'))
  })
})
