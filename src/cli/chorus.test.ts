// `chorus` and `agents` against a canned daemon: what they ask for, what they show, and what they never show.
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

describe('agents add', () => {
  it('keeps the connection string encrypted and prints the lines for the file, without it', async () => {
    const { asked } = await start({
      'PUT /api/secrets/kate_connection_string': { ok: true },
      'GET /api/status': { integrations: [{ id: 'kate_tg' }], config: { file: 'switchboard.yaml' } },
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
    expect(asked[0]?.body).toEqual({ value: url })
    for (const args of [
      ['kate'],
      ['ka te', '--chorus', url],
      ['kate', '--chorus', 'x'],
      ['kate', '--chorus', url, '--bind', 'x'],
    ])
      expect((await command(['agents', 'add', ...args, ...data()])).code).toBe(2)
  })
})
