// How the command line fails: usage, no daemon, a dead socket, a daemon in trouble, a reader that goes away.
import { spawn } from 'node:child_process'
import { existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { command, freshFolder, rememberingTerminal } from './fixtures/fake-daemon.ts'

const { path: folder, data, start } = freshFolder()

describe('usage', () => {
  it.each([
    [['statsu'], 'unknown command "switchboard statsu"', 'did you mean: switchboard status'],
    [
      ['outbox', 'rety', 'x'],
      'unknown command "switchboard outbox rety"',
      'did you mean: switchboard outbox retry',
    ],
    [['xyzzy'], 'unknown command "switchboard xyzzy"', 'see what there is with: switchboard --help'],
    [['turns', '--sorce', 'x'], "unknown option '--sorce'", 'did you mean: --source'],
    [['turns', 'show'], "missing required argument 'id'", 'see what it takes with --help'],
    [['turns', '--source'], "option '--source <source>' argument missing", 'see what it takes with --help'],
    [
      ['up', '--port', '99999'],
      '--port: "99999" is not a port',
      'write a number from 0 to 65535; 0 takes a free one',
    ],
    [['help', 'nope'], 'unknown command "switchboard nope"', 'see what there is with: switchboard --help'],
    [['help', 'turn'], 'unknown command "switchboard turn"', 'did you mean: switchboard turns'],
    [['channel'], '--agent is missing', 'name the agent of switchboard.yaml that this host serves'],
  ])('[S14.cli-exit-codes] [S14.cli-stderr-hint] %j exits 2 with a hint', async (words, error, hint) => {
    const told = await command(words)
    expect(told).toMatchObject({ code: 2, out: '' })
    expect(told.err).toMatch(/\nusage: switchboard .*\n$/)
    expect(told.err.replace(/usage: .*\n$/, '')).toBe(`error: ${error}\nhint: ${hint}\n`)
  })

  it.each([
    [['turns', 'show'], 'switchboard turns show [options] <id>'],
    [['up', '--port', 'x'], 'switchboard up [options]'],
    [['outbox', 'rety'], 'switchboard outbox [options] [command]'],
    [['statsu'], 'switchboard [options] <command>'],
  ])('[I18.usage-line] %j is told with the usage line of its command', async (words, line) => {
    expect((await command(words)).err).toContain(`\nusage: ${line}\n`)
  })

  it.each([
    ['--wat', 'see what it takes with --help'],
    ['--dat', 'did you mean: --data'],
    ['--jsno', 'did you mean: --json'],
  ])('[I18.far-suggestion] of %s only a slip is guessed', async (word, hint) => {
    expect((await command([word])).err).toContain(`error: unknown option '${word}'\nhint: ${hint}\n`)
  })

  it('with --json an error is an object on standard error', async () => {
    const told = await command(['statsu', '--json'])
    expect(told).toMatchObject({ code: 2, out: '' })
    expect(JSON.parse(told.err)).toEqual({
      ok: false,
      code: 'input_invalid',
      error: 'unknown command "switchboard statsu"',
      hint: 'did you mean: switchboard status',
    })
  })

  it.each([[[]], [['audit']], [['import']], [['help', 'nope']], [['audit', 'export', '--format', 'csv']]])(
    '%j with --json is an object on standard error, not the help',
    async (words) => {
      const told = await command([...words, '--json'])
      expect(told).toMatchObject({ code: 2, out: '' })
      expect(JSON.parse(told.err)).toMatchObject({ ok: false, code: 'input_invalid' })
    },
  )

  it('help is exit 0 on standard output when asked for, exit 2 on standard error when not', async () => {
    const asked = await command(['--help'])
    expect(asked).toMatchObject({ code: 0, err: '' })
    expect(asked.out).toContain('Usage: switchboard')
    expect((await command(['help', 'turns'])).out).toContain('--source')
    expect(await command([])).toMatchObject({ code: 2, out: '' })
    expect(await command(['audit'])).toMatchObject({ code: 2, out: '' })
    expect((await command(['help', 'outbox', 'bury'])).out).toContain('Usage: switchboard outbox bury')
    expect((await command(['help'])).out).toBe(asked.out)
    expect((await command(['--version'])).out).toMatch(/^switchboard \d+\.\d+\.\d+/)
  })
})

const NEED_A_DAEMON = [
  ['reload'],
  ['doctor'],
  ['link'],
  ['turns', 'retry', 'x'],
  ['outbox', 'bury', 'x'],
  ['pair', 'approve', 'abc123'],
  ['access', 'allow', 'a', 'b'],
  ['approvals', 'allow', 'abcde'],
  ['secrets', 'rotate'],
  ['token', 'mint', '--agent', 'a'],
]

describe('without a daemon', () => {
  it.each(NEED_A_DAEMON.map((words) => [words]))(
    '[S14.cli-needs-daemon] %j says how to start one',
    async (words) => {
      const told = await command([...words, '--json', ...data()])
      expect(told).toMatchObject({ code: 1, out: '' })
      expect(JSON.parse(told.err)).toMatchObject({
        code: 'daemon_absent',
        hint: `start one with: switchboard up --data ${folder()}`,
      })
    },
  )

  it('[S11.no-daemon] [F7.send-stub] send says that the gateway is not active', async () => {
    const told = await command(['send', 'a:b', 'hi', ...data()])
    expect(told.code).toBe(1)
    expect(told.err).toBe(
      'error: Gateway not active — send_message requires gateway mode\n' +
        `hint: start one with: switchboard up --data ${folder()}\n`,
    )
    expect(JSON.parse((await command(['send', 'a:b', 'hi', '--json', ...data()])).err).code).toBe(
      'execution_failed',
    )
  })

  it('a socket file whose daemon is dead counts as none, and so does a plain file', async () => {
    const path = join(folder(), 'switchboard.sock')
    // A process that is killed leaves its socket file behind.
    const child = spawn(process.execPath, [
      '-e',
      `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`,
    ])
    await new Promise((resolve) => child.once('close', resolve))
    expect(lstatSync(path).isSocket()).toBe(true)
    expect((await command(['reload', ...data()])).err).toContain('no daemon holds')
    rmSync(path)
    writeFileSync(path, '')
    expect((await command(['reload', ...data()])).err).toContain('no daemon holds')
  })

  it('a store that is away: nothing was read, and nobody is told that it is tried again', async () => {
    const config = join(folder(), 'away.yaml')
    writeFileSync(config, 'store: postgres://127.0.0.1:1/x\nintegrations: []\nagents: []\n')
    writeFileSync(join(folder(), 'ledger.key'), Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
    const told = await command(['status', '--config', config, ...data()])
    expect(told).toMatchObject({ code: 1, out: '' })
    expect(told.err).toMatch(/hint: .*nothing was read: ask again when that is mended/)
    expect(told.err).not.toContain('by itself')
  })

  it('a file that there is not: the hint writes that one, wherever it is', async () => {
    const file = join(folder(), 'no such.yaml')
    const hint = `switchboard init --config '${file}'`
    expect((await command(['check', file, ...data()])).err).toContain(hint)
    const up = await command(['up', '--config', file, ...data()])
    expect(up).toMatchObject({ code: 2, err: expect.stringContaining(hint) })
  })

  it('reading where nothing ever ran says so and leaves no trace', async () => {
    const nowhere = join(folder(), 'nowhere')
    const told = await command(['turns', '--data', nowhere])
    expect(told).toMatchObject({ code: 1, out: '' })
    expect(told.err).toMatch(/^error: there is no data folder .*nowhere yet\nhint: /)
    expect(existsSync(nowhere)).toBe(false)
  })

  it('SWITCHBOARD_DATA names the folder when --data does not', async () => {
    const told = await command(['reload'], rememberingTerminal({ env: { SWITCHBOARD_DATA: folder() } }))
    expect(told.err).toContain(folder())
  })
})

describe('a daemon in trouble', () => {
  it('its own error is told as it is, with its exit code', async () => {
    const wrong = { ok: false, code: 'input_invalid', error: 'to: is not an address', hint: 'write a:b' }
    await start({ 'POST /api/send': () => ({ status: 400, body: wrong }) })
    const told = await command(['send', 'nonsense', 'x', ...data()])
    expect(told).toMatchObject({ code: 2, err: 'error: to: is not an address\nhint: write a:b\n' })
  })

  it('an answer in a foreign shape is an error, not a crash', async () => {
    await start({
      'GET /api/status': () => ({ body: '<html>' }),
      'POST /api/reload': () => ({ status: 502, body: 'bad gateway' }),
    })
    expect((await command(['status', ...data()])).err).toMatch(
      /^error: the daemon's answer .* is not JSON\nhint: /,
    )
    expect((await command(['reload', ...data()])).err).toMatch(
      /^error: the daemon answered 502 bad gateway\n/,
    )
  })

  it('one that hangs up in the middle is told as such', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => server.listen(join(folder(), 'switchboard.sock'), resolve))
    const told = await command(['reload', ...data()])
    expect(told.code).toBe(1)
    expect(told.err).toMatch(/^error: the daemon went away in the middle/)
    await new Promise((resolve) => server.close(resolve))
  })
})

describe('the process', () => {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url))

  it('a reader that goes away ends it quietly', async () => {
    const items = Array.from({ length: 500 }, (_, n) => ({ id: `t_tag_${n}`, text: 'x'.repeat(2000) }))
    let pages = 0
    await start({
      'GET /api/turns': () => ({ body: { items, next: ++pages < 20 ? `t_tag_${pages}` : null } }),
    })
    const child = spawn(process.execPath, ['--import', 'tsx', main, 'turns', '--json', ...data()])
    let err = ''
    child.stderr.on('data', (chunk) => {
      err += chunk
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(pages).toBeLessThan(20)
  })

  it('asking a daemon loads neither the daemon, the store nor the schema', async () => {
    await start({ 'GET /api/turns': { items: [], next: null } })
    const watch = join(folder(), 'watch.mjs')
    writeFileSync(
      watch,
      `import { register } from 'node:module'
       register('data:text/javascript,' + encodeURIComponent(
         'export async function resolve(s, c, n) { const r = await n(s, c); process._rawDebug(r.url); return r }'))`,
    )
    const child = spawn(process.execPath, [
      '--import',
      'tsx',
      '--import',
      watch,
      main,
      'turns',
      '--json',
      ...data(),
    ])
    let loaded = ''
    child.stderr.on('data', (chunk) => {
      loaded += chunk
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(code).toBe(0)
    expect(loaded).toContain('/cli/commands/reading/turns.ts')
    expect(loaded).not.toMatch(
      /\/src\/daemon\/daemon|\/src\/store\/|\/src\/server\/|node_modules\/(zod|pino|hono|yaml)\//,
    )
  })
})
