// `agents`: lists, and changes the lines of an agent in the file, leaving the rest as it was written.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { STATUS } from '../server/fixtures/open-server.ts'
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
    [['add', 'leo', '--connector', 'deno', '--write'], /nothing was written/],
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
