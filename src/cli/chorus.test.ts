// `chorus` and `agents` against a canned daemon: what they ask for, what they show, and what they never show.
import { type AddressInfo, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { data, start } = freshFolder()

const made = { connection_string: 'https://sb.example.com/inbox/sk_x', id: 'tok_1', revoked: 0 }

describe('chorus', () => {
  it('[S14.cli-chorus] [S14.json-chorus] connect and rotate print the string once, alone on a line', async () => {
    await start({
      'POST /api/chorus/miriad/connect': made,
      'POST /api/chorus/miriad/rotate': { ...made, revoked: 2 },
    })
    expect(await command(['chorus', 'connect', 'miriad', ...data()])).toMatchObject({
      code: 0,
      out: `${made.connection_string}\n`,
    })
    expect((await command(['chorus', 'connect', 'miriad', '--json', ...data()])).lines).toEqual([made])
    const rotated = await command(['chorus', 'rotate', 'miriad', ...data()])
    expect(rotated.err).toContain('2 older ones dead now')
  })

  it('verify takes a URL and seconds, and says so', async () => {
    for (const args of [['not-a-url'], ['https://x', '--wait', 'soon']]) {
      const told = await command(['chorus', 'verify', ...args, ...data()])
      expect(told.code).toBe(2)
    }
    const url = 'http://127.0.0.1:1/inbox/sk_x'
    for (const [args, said] of [
      [[url], 'say so with --allow-private'],
      [[url, '--allow-private', '--callback', 'foo'], '--callback: "foo" is not a URL'],
    ] as const) {
      const told = await command(['chorus', 'verify', ...args, ...data()])
      expect(told).toMatchObject({ code: 2, err: expect.stringContaining(said) })
    }
    const refused = await command([
      'chorus',
      'verify',
      'https://127.0.0.1/inbox/sk_planted',
      '--wait',
      '0',
      ...data(),
    ])
    expect(refused.code).toBe(1)
    expect(refused.out).toContain('✗ a delivery is answered 2xx')
    expect(refused.out + refused.err).not.toContain('sk_planted')
  })
})

it('verify on a port that is taken says which option chooses another', async () => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const { port } = server.address() as AddressInfo
  const url = 'http://127.0.0.1:1/inbox/sk_x'
  const words = ['chorus', 'verify', url, '--allow-private', '--listen', String(port)]
  const told = await command([...words, ...data()])
  await new Promise((resolve) => server.close(resolve))
  expect(told).toMatchObject({
    ...{
      code: 2,
      err: `error: port ${port} cannot be listened on: EADDRINUSE\nhint: choose another with --listen\n`,
    },
  })
})

describe('agents add', () => {
  it('[I35.b41-print] prints the lines for the file and keeps nothing, the connection string least of all', async () => {
    const { asked } = await start({
      'PUT /api/secrets/kate_connection_string': { ok: true },
      'GET /api/secrets': { items: [{ name: 'leo_connection_string' }], next: null },
      'GET /api/status': {
        ...{
          integrations: [{ id: 'kate_tg' }],
          agents: [{ id: 'ann' }],
          config: { file: 'switchboard.yaml' },
        },
      },
    })
    const url = 'https://agent.example.com/inbox/sk_planted'
    const told = await command([
      'agents',
      'add',
      'kate',
      '--chorus',
      url,
      '--bind',
      'telegram:kate_tg',
      ...data(),
    ])
    expect(told.code).toBe(0)
    expect(told.out).toContain('connector: { type: chorus, url: "secret:kate_connection_string" }')
    expect(told.out).toContain('{ plugin: telegram, instance: kate_tg }')
    expect(told.out + told.err).not.toContain('sk_planted')
    expect(told.err).not.toContain('nothing arrives')
    expect(told.out).not.toContain('integrations:')
    const web = await command(['agents', 'add', 'kate', '--chorus', url, ...data()])
    expect(web.out).toMatch(/^integrations:\n {2}- \{ id: web, platform: web \}\nagents:\n/)
    const none = await command(['agents', 'add', 'kate', '--chorus', url, '--bind', 'slack:x', ...data()])
    expect(none.err).toContain('there is no integration "x" yet')
    const kept = () => asked.filter(({ method }) => method === 'PUT')
    expect(kept()).toEqual([])
    expect(none.err).toContain('--write: it keeps secret:kate_connection_string, encrypted')
    // A running agent is not led elsewhere, nor a string replaced that something may refer to.
    for (const [id, said] of [
      ['ann', 'there is an agent "ann" already'],
      ['leo', 'a secret is kept as secret:leo_connection_string already'],
    ] as const) {
      const taken = await command(['agents', 'add', id, '--chorus', url, ...data()])
      expect(taken).toMatchObject({ code: 1, out: '', err: expect.stringContaining(said) })
    }
    expect(kept()).toEqual([])
    for (const args of [
      ['kate', '--chorus', url, '--connector', 'demo'],
      ['kate', '--chorus', 'https://'],
      ['kate'],
      ['ka te', '--chorus', url],
      ['kate', '--chorus', 'x'],
      ['kate', '--chorus', url, '--bind', 'x'],
    ])
      expect((await command(['agents', 'add', ...args, ...data()])).code).toBe(2)
  })
})
