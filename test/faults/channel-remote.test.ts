// A host on another machine: the shim attaches over a WebSocket with a token. The machine is this one; the data folder
// of the daemon is not the shim's.
import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ClaudeCode } from '../../src/testing/emulate.ts'
import { freePort } from '../../src/testing/free-port.ts'
import { answering, audited, type ChannelScene, openChannel } from './channel-scene.ts'
import { BINARY } from './daemon.ts'
import { askJson, askLines, createScene, switchboard } from './scene.ts'
import { pause, until } from './until.ts'

const scene = createScene()

interface Remote {
  readonly place: ChannelScene
  readonly port: number
  mint(...more: string[]): Promise<{ token: string; id: string }>
  /** A session elsewhere whose shim has this token. */
  claude(token: string): Promise<ClaudeCode>
  start(): Promise<{ kill9(): Promise<unknown>; terminate(): Promise<unknown> }>
}

async function remote(): Promise<Remote> {
  const place = openChannel(scene)
  const port = await freePort()
  const start = () => scene.start({ data: place.data, config: place.config, port })
  return {
    place,
    port,
    start,
    mint: (...more) => askJson(place.data, 'token', 'mint', '--kind', 'agent', '--agent', 'kate', ...more),
    claude(token) {
      const elsewhere = scene.folder()
      const file = join(elsewhere, 'token')
      writeFileSync(file, `${token}\n`, { mode: 0o600 })
      const url = ['--url', `http://127.0.0.1:${port}`, '--token-file', file]
      return place.claude({
        args: [BINARY, 'channel', '--agent', 'kate', '--data', elsewhere, ...url],
        cwd: elsewhere,
      })
    },
  }
}

describe('a host on another machine', () => {
  it('[S6.ch-remote] attaches with the token of its agent, answers, and is asked and heard over kill -9 of the daemon', async () => {
    const { place, mint, claude: session, start } = await remote()
    const daemon = await start()
    const claude = answering(await session((await mint()).token))
    await place.say('one')
    await place.turn('one', 'answered')
    claude.onPrompt = () => undefined
    await place.say('two')
    await until('two is there', () => claude.prompts[1])
    const asked = claude.ask({ toolName: 'Bash', description: 'x', inputPreview: '{ "command": "ls" }' })
    await until('it is asked', async () => (await askLines(place.data, 'approvals', 'list')).length > 0)
    await daemon.kill9()
    const reply = claude.call('reply', { chat_id: 'hook:dev', text: 're: two' }, 'toolu_two')
    const second = await start()
    expect(await reply).toMatchObject({ isError: false, text: expect.stringMatching(/^sent \(id: /) })
    await place.turn('two', 'answered')
    // Nothing was handed over a second time.
    expect(claude.prompts.map(({ content }) => content)).toEqual(['one', 'two'])
    await place.say(`yes ${asked.id}`)
    expect(await asked.decided).toBe('allow')
    expect(await audited(place.data)).toMatchObject({ ok: true })
    // A host that is attached from afar does not hold up the end of the daemon.
    expect(await second.terminate()).toEqual({ code: 0, signal: null })
    expect(claude.noise).toEqual([])
  })

  it('[S1.authorize-attach] with a token that is revoked meanwhile loses its place, is told why, and the messages wait', async () => {
    const { place, mint, claude: session, start } = await remote()
    await start()
    const { token, id } = await mint()
    const claude = answering(await session(token))
    await place.say('one')
    await place.turn('one', 'answered')
    await switchboard(place.data, 'token', 'revoke', id)
    await until('the shim says why', () => claude.stderr().includes('this token was revoked'))
    await place.say('two')
    await place.turn('two', 'queued')
    expect(await claude.call('pending_messages', {})).toMatchObject({
      isError: true,
      text: expect.stringContaining('The gateway refused this host: this token was revoked'),
    })
    expect(claude.stderr()).not.toContain(token)
    answering(await session((await mint()).token))
    await place.turn('two', 'answered')
  })

  it('is refused in words: a wrong token, an expired one, one of another kind, one for another agent', async () => {
    const { place, mint, claude: session, start } = await remote()
    appendFileSync(place.config, '  - { id: leo, connector: { type: channel } }\n')
    await start()
    const expired = await mint('--expires', '1s')
    await pause(1_100)
    const notify = await askJson<{ token: string }>(
      place.data,
      ...['token', 'mint', '--kind', 'notify', '--agent', 'kate'],
    )
    const leo = await askJson<{ token: string }>(
      place.data,
      ...['token', 'mint', '--kind', 'agent', '--agent', 'leo'],
    )
    for (const [token, words] of [
      ['agent_nonsense', /this token is not known here/],
      [notify.token, /not good for agent\.attach/],
      [leo.token, /belongs to another agent/],
      [expired.token, /this token has expired/],
    ] as const) {
      const claude = await session(token)
      await until(`the shim says ${words}`, () => words.test(claude.stderr()))
      expect(await claude.call('pending_messages', {})).toMatchObject({
        isError: true,
        text: expect.stringMatching(words),
      })
      expect(claude.stderr()).not.toContain(token)
      await claude.close()
    }
  })

  it('[S14.cli-init-claude] init claude-code --url writes .mcp.json alone, and what it writes attaches', async () => {
    const { place, port, mint, start } = await remote()
    await start()
    const elsewhere = scene.folder()
    const init = spawnSync(
      process.execPath,
      [
        ...[BINARY, 'init', 'claude-code', '--agent', 'kate', '--url', `http://127.0.0.1:${port}`],
        ...['--token-file', 'the.token'],
      ],
      { cwd: elsewhere, encoding: 'utf8', env: { PATH: '/usr/bin:/bin', HOME: elsewhere } },
    )
    expect(init.stdout).toContain('switchboard token mint --kind agent --agent kate')
    expect(readdirSync(elsewhere)).toEqual(['.mcp.json'])
    const { token } = await mint()
    writeFileSync(join(elsewhere, 'the.token'), token, { mode: 0o600 })
    const { mcpServers } = JSON.parse(readFileSync(join(elsewhere, '.mcp.json'), 'utf8')) as {
      mcpServers: { switchboard: { command: string; args: string[] } }
    }
    const claude = answering(await place.claude({ ...mcpServers.switchboard, cwd: elsewhere }))
    await place.say('from afar?')
    await place.turn('from afar?', 'answered')
    expect(
      await claude.call('reply', { chat_id: 'hook:dev', text: 'x', files: ['/etc/hostname'] }),
    ).toMatchObject({
      isError: true,
      text: expect.stringContaining('on this machine can attach files'),
    })
  })

  it.each([
    [['--url', 'sb.example.com'], {}, /no address of a daemon/],
    [['--url', 'https://sb.example.com'], {}, /needs a token/],
    [['--url', 'https://sb.example.com', '--token-file', '/nowhere/token'], {}, /no token can be read from/],
    [['--token-file', '/nowhere/token'], {}, /--url, too/],
  ])('channel %j is a mistake that is named', async (args, env, words) => {
    const child = spawn(process.execPath, [BINARY, 'channel', '--agent', 'kate', ...args], {
      cwd: scene.folder(),
      env: { PATH: '/usr/bin:/bin', HOME: '/', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let err = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      err += chunk
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, err }).toMatchObject({ code: 2, err: expect.stringMatching(words) })
  })
})
