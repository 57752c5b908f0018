// `agents`: lists, and changes the lines of an agent in the file, leaving the rest as it was written.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { STATUS } from '../server/fixtures/open-server.ts'
import { starterYaml } from '../setup/starter-files.ts'
import { wordsIn } from '../words/index.ts'
import { command, startFakeDaemon, temporaryFolder } from './fixtures/fake-daemon.ts'

const FILE = `# who answers
integrations:
  - { id: web, platform: web } # the page
agents:
  # the first one
  - id: kate
    connector: { type: channel } # Claude Code
    inbound_bindings:
      - { plugin: web, instance: web }
`

let folder: ReturnType<typeof temporaryFolder>
let file = ''
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder.path, 'switchboard.yaml')
  writeFileSync(file, FILE)
})
afterEach(() => folder.done())

const agents = (...words: string[]) =>
  command(['agents', ...words, '--config', file, '--data', join(folder.path, 'data')])
const written = () => readFileSync(file, 'utf8')

describe('[S14.cli-agents] agents', () => {
  it('lists them with how they are reached', async () => {
    const daemon = await startFakeDaemon(folder.path, { 'GET /api/status': STATUS })
    const { code, lines } = await command(['agents', '--json', '--data', folder.path])
    await daemon.close()
    expect({ code, lines }).toMatchObject({
      code: 0,
      lines: [{ connector: 'demo', attached: true, queued: 2 }],
    })
  })

  it('sets and takes away keys, and leaves comments and neighbours alone', async () => {
    const set = await agents('set', 'kate', 'connector.dialect=nexo', 'notify_on=failure')
    expect(set).toMatchObject({ code: 0, out: expect.stringContaining('kate is changed') })
    expect(written()).toBe(
      FILE.replace('{ type: channel }', '{ type: channel, dialect: nexo }').replace(
        /$/,
        '    notify_on: failure\n',
      ),
    )
    expect((await agents('set', 'kate', 'notify_on=', 'connector.dialect=')).code).toBe(0)
    expect(written()).toBe(FILE)
  })

  it('adds one and removes one', async () => {
    expect(await agents('add', 'leo', '--connector', 'demo', '--bind', 'web:web')).toMatchObject({
      code: 0,
      out: expect.stringContaining('id: leo'),
    })
    expect(written(), 'without --write it only prints').toBe(FILE)
    // Two agents cannot both have the whole integration: what does not hold is not written.
    const both = await agents('add', 'leo', '--connector', 'demo', '--write')
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('nothing was written') })
    expect(written()).toBe(FILE)
    expect((await agents('remove', 'kate')).code).toBe(0)
    expect((await agents('add', 'leo', '--connector', 'demo', '--write')).code).toBe(0)
    expect(written()).toContain('id: leo')
    expect(written()).toContain('# the page')
    expect(written()).not.toContain('kate')
  })

  it('writes a Chorus agent as well, its connection string kept first and only when the file holds', async () => {
    const daemon = await startFakeDaemon(join(folder.path, 'data'), {
      'PUT /api/secrets/leo_connection_string': { ok: true },
      'GET /api/secrets': { items: [], next: null },
      'GET /api/status': { ...STATUS, config: { ...STATUS.config, file } },
    })
    const url = 'https://agent.example.com/inbox/sk_planted'
    const add = () => agents('add', 'leo', '--chorus', url, '--allow-private', '--write')
    const both = await add()
    expect(both).toMatchObject({ code: 2, err: expect.stringContaining('nothing was written') })
    expect(daemon.asked.map(({ method }) => method)).not.toContain('PUT')
    expect((await agents('remove', 'kate')).code).toBe(0)
    const told = await add()
    await daemon.close()
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('leo is added') })
    expect(daemon.asked.find(({ method }) => method === 'PUT')?.body).toEqual({ value: url })
    expect(written()).toMatch(
      /id: leo[\s\S]*type: chorus[\s\S]*secret:leo_connection_string[\s\S]*allow_private: true/,
    )
    expect(written() + told.out + told.err).not.toContain('sk_planted')
  })

  it.each([
    [['set', 'kat', 'notify_on=both'], /no agent "kat"[\s\S]*kate/],
    [['set', 'kate', 'notify_on=sometimes'], /nothing was written[\s\S]*notify_on/],
    [['set', 'kate', 'conector.type=demo'], /nothing was written[\s\S]*connector/],
    [['set', 'kate', 'id=other'], /an id is not changed/],
    [['set', 'kate', 'notify_on'], /not key=value/],
    [['remove', 'nobody'], /no agent "nobody"/],
    [['add', 'kate', '--connector', 'demo', '--write'], /"kate" already/],
    [['add', 'leo', '--connector', 'deno', '--write'], /no connector "deno"[\s\S]*demo/],
  ])('%j is refused in words, and changes nothing', async (words, reason) => {
    const { code, err } = await agents(...words)
    expect(code).toBeGreaterThan(0)
    expect(err).toMatch(reason)
    expect(written()).toBe(FILE)
  })

  it('says so when the running daemon reads another file', async () => {
    const data = join(folder.path, 'data')
    const reading = async (read: string | null) => {
      const status = { ...STATUS, config: { ...STATUS.config, file: read } }
      const daemon = await startFakeDaemon(data, { 'GET /api/status': status })
      const set = await agents('set', 'kate', 'notify_on=failure', '--json')
      await daemon.close()
      return set.lines[0] as { readonly daemon_reads?: string }
    }
    expect(await reading(file)).not.toHaveProperty('daemon_reads')
    expect(await reading('/elsewhere/switchboard.yaml')).toHaveProperty(
      'daemon_reads',
      '/elsewhere/switchboard.yaml',
    )
    expect(await reading(null)).toHaveProperty('daemon_reads', 'the embedded default')
  })

  it('without a file there is nothing to change', async () => {
    const none = await command(['agents', 'remove', 'demo', '--data', folder.path])
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('no switchboard.yaml') })
  })
})

describe('agents add after init', () => {
  const STARTER = () =>
    starterYaml({ agent: 'demo', hook: 'alerts', port: null, secretFile: './hook.secret' })
  beforeEach(() => {
    writeFileSync(file, STARTER())
    writeFileSync(join(folder.path, 'hook.secret'), 'a secret of the hook, long enough')
  })

  it('[I18.add-after-init] takes the chat over from the demo, and says so', async () => {
    const told = await agents('add', 'kate', '--connector', 'channel', '--write')
    expect(told).toMatchObject({ code: 0, err: '' })
    expect(told.out).toContain('kate is added and has web, which the demo agent "demo" had')
    expect(parse(written())).toMatchObject({
      agents: [
        { id: 'demo', inbound_bindings: [{ plugin: 'webhook', instance: 'alerts' }] },
        { id: 'kate', inbound_bindings: [{ plugin: 'web', instance: 'web' }] },
      ],
    })
    const again = await agents('add', 'leo', '--connector', 'channel', '--write')
    expect(again).toMatchObject({
      code: 2,
      err: expect.stringContaining('"web" goes to agent "kate" already, nothing was written'),
    })
    const hook = await agents('add', 'leo', '--connector', 'channel', '--bind', 'webhook:alerts', '--write')
    expect(hook.code, hook.err).toBe(0)
    expect(hook.out).toContain('nothing else used the demo agent, so it is removed')
    expect(parse(written())).toMatchObject({ agents: [{ id: 'kate' }, { id: 'leo' }] })
    const { code, err } = await command(['check', file, '--data', join(folder.path, 'data')])
    expect([code, err]).toEqual([0, expect.not.stringContaining('unbound')])
  })

  it.each([
    ['a schedule', '    schedules:\n      - { id: noon, cron: "0 12 * * *", prompt: "Noon." }\n', ''],
    ['a scope', '', '    scope: { agents: [demo] }\n'],
    ['another binding', '      - { plugin: webhook, instance: alerts, conversations: ["a"] }\n', ''],
  ])('[I35.b41-demo] a demo agent that %s uses stays in the file', async (_what, ofAgent, ofIntegration) => {
    writeFileSync(
      file,
      `integrations:
  - id: web
    platform: web
  - id: alerts
    platform: webhook
    secret: file:./hook.secret
${ofIntegration}agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings:
      - { plugin: web, instance: web }
${ofAgent}# closing words
`,
    )
    const told = await agents('add', 'kate', '--connector', 'channel', '--write')
    expect(told.out).toContain('has web, which the demo agent "demo" had')
    expect(told.out).not.toContain('removed')
    expect(parse(written())).toMatchObject({ agents: [{ id: 'demo' }, { id: 'kate' }] })
  })

  it('[I35.b41-demo] an unused demo agent goes, and no other line', async () => {
    const before = `# who answers
integrations:
  - { id: web, platform: web } # the page
agents:
  # nobody yet
  - id: demo
    connector: { type: demo }
    inbound_bindings:
      - { plugin: web, instance: web }

# closing words
`
    writeFileSync(file, before)
    expect((await agents('add', 'kate', '--connector', 'channel', '--write')).code).toBe(0)
    expect(written()).toBe(`# who answers
integrations:
  - { id: web, platform: web } # the page
agents:
  # nobody yet
  - id: kate
    connector:
      type: channel
    inbound_bindings:
      - plugin: web
        instance: web

# closing words
`)
  })

  it('[I35.a4-unbound] check warns of an agent without bindings by the word that doctor has', async () => {
    writeFileSync(file, FILE.replace(/ {4}inbound_bindings:\n.*\n/, ''))
    const told = await command(['check', file, '--data', join(folder.path, 'data')])
    expect(told.code).toBe(0)
    expect(told.err).toContain(
      `warning: agents[0].inbound_bindings: agent kate is ${wordsIn().health.checks['agent-unbound'].word}`,
    )
    writeFileSync(file, FILE)
    expect((await command(['check', file, '--data', join(folder.path, 'data')])).err).not.toContain('unbound')
  })

  it('[I18.add-own-lines] every other line stays, and no comment changes its owner', async () => {
    expect((await agents('add', 'kate', '--connector', 'channel', '--write')).code).toBe(0)
    const before = STARTER().split('\n')
    const after = written().split('\n')
    expect(before.filter((line) => !after.includes(line))).toEqual(['      - { plugin: web, instance: web }'])
    const own = ['  - id: kate', '    connector:', '      type: channel', '    inbound_bindings:']
    const at = after.indexOf('  - id: kate')
    expect(after.slice(at, at + 4)).toEqual(own)
    expect(after[at - 1]).toBe('    # messaging: { allow: ["webhook:*"] }')
    expect(after.slice(at + 4, at + 8)).toEqual([
      '      - plugin: web',
      '        instance: web',
      '',
      '# People, when there is more than one of them:',
    ])
  })

  it('[I18.add-kept] what a run that was cut short kept is no obstacle to --write, which keeps it anew', async () => {
    const secrets = [{ name: 'kate_connection_string' }]
    const daemon = await startFakeDaemon(join(folder.path, 'data'), {
      'PUT /api/secrets/kate_connection_string': () => {
        secrets.push({ name: 'kate_connection_string' })
        return { body: { ok: true } }
      },
      'GET /api/secrets': () => ({ body: { items: secrets, next: null } }),
      'GET /api/status': { ...STATUS, agents: [], config: { ...STATUS.config, file } },
    })
    const add = (...more: string[]) =>
      agents('add', 'kate', '--chorus', 'https://agent.example.com/inbox/sk_planted', ...more)
    expect(await add()).toMatchObject({ code: 1, err: expect.stringContaining('finish with --write') })
    expect((await add('--write')).code).toBe(0)
    expect(written()).toContain('secret:kate_connection_string')
    // The file refers to it now: another one does not get it.
    writeFileSync(file, written().replace('- id: kate', '- id: leo'))
    const taken = await add('--write')
    await daemon.close()
    expect(taken).toMatchObject({ code: 1, err: expect.stringContaining('kept as secret:kate_') })
    expect(secrets).toHaveLength(2)
  })

  it('[I18.add-invalid-connector] of a connector that there is none of prints no lines', async () => {
    for (const [name, hint] of [
      ['llmm', 'did you mean "llm"?'],
      ['xyzzy', 'known here: '],
    ] as const) {
      const told = await agents('add', 'kate', '--connector', name)
      expect(told).toMatchObject({ code: 2, out: '' })
      expect(told.err).toContain(`there is no connector "${name}" in this version`)
      expect(told.err).toContain(hint)
    }
  })
})
