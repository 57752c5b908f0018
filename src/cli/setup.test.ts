// Starting and setting up: the banner, signals, the starter file, and what check says about a wrong one.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type IntegrationView, SwitchboardError } from '../contract/index.ts'
import { type RunningDaemon, runUp, type UpDeps, type UpOptions } from './commands/daemon/up.ts'
import { createContext, type GlobalOptions } from './context.ts'
import { command, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
const data = () => ['--data', folder.path]
const path = (name: string) => join(folder.path, name)

beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.done())

/** `up` with a daemon of straw: what it was started with, and the levers to move it. */
function strawDaemon(
  given: {
    globals?: GlobalOptions
    options?: UpOptions
    config?: boolean
    fails?: Error
    integrations?: IntegrationView[]
  } = {},
) {
  let now = 1_000
  const terminal = rememberingTerminal({ now: () => now, env: {} })
  const context = createContext(terminal, {
    data: folder.path,
    ...(given.config === true ? { config: 'my.yaml' } : {}),
    ...given.globals,
  })
  const seen = { started: [] as object[], stops: 0, aborts: 0, opened: [] as string[], released: 0 }
  let finish = (_code: number) => {}
  let signal: Parameters<UpDeps['onSignal']>[0] = () => {}
  const running: RunningDaemon = {
    url: 'http://127.0.0.1:4747',
    chatLink: 'http://127.0.0.1:4747/chat#one-time',
    takenPort: null,
    integrations: async () => given.integrations ?? [],
    stop: async () => {
      seen.stops++
      finish(0)
    },
    done: new Promise<number>((resolve) => {
      finish = resolve
    }),
  }
  let started = () => {}
  const starting = new Promise<void>((resolve) => {
    started = resolve
  })
  const deps: UpDeps = {
    async start(options) {
      seen.started.push(options)
      if (given.fails) throw given.fails
      await starting
      return running
    },
    onSignal(handle) {
      signal = handle
      return () => {
        seen.released++
      }
    },
    endDaemon: () => undefined,
    pause: async () => undefined,
    abort: () => {
      seen.aborts++
    },
    openBrowser: (url) => {
      seen.opened.push(url)
    },
  }
  const ended = runUp(context, given.options ?? {}, deps)
  return {
    ended,
    seen,
    terminal,
    start: async () => {
      started()
      await new Promise((resolve) => setImmediate(resolve))
    },
    signal: (name: 'SIGINT' | 'SIGTERM' = 'SIGINT') => signal(name),
    finish: (code: number) => finish(code),
    later: (ms: number) => {
      now += ms
    },
  }
}

describe('up', () => {
  it('[S14.cli-up] starts with what it was told and says where everything is', async () => {
    const straw = strawDaemon({ options: { host: '127.0.0.2', port: '0' } })
    await straw.start()
    expect(straw.seen.started).toEqual([
      { dataDir: folder.path, configFile: null, host: '127.0.0.2', port: 0, logFormat: 'json' },
    ])
    const { out } = straw.terminal.printed
    for (const word of [
      'http://127.0.0.1:4747/chat#one-time',
      "-H 'X-Sender: dev'",
      '/hooks/demo',
      folder.path,
      'Ctrl-C',
    ]) {
      expect(out).toContain(word)
    }
    straw.signal()
    expect(await straw.ended).toBe(0)
    expect(straw.seen).toMatchObject({ stops: 1, aborts: 0, released: 1 })
  })

  it('[I18.banner] names every integration with its state and how to reach it', async () => {
    const one = { enabled: true, default: false, scope: 'bound', origin: 'store', link: 'up' } as const
    const integrations: IntegrationView[] = [
      { ...one, id: 'web', platform: 'web', reach: 'http://127.0.0.1:4747/chat' },
      { ...one, id: 'kate', platform: 'telegram', reach: 'https://t.me/kate_bot' },
      { ...one, id: 'ci', platform: 'webhook', link: 'down', detail: 'secret:CI leads to nothing' },
      { ...one, id: 'old', platform: 'slack', enabled: false },
    ]
    const straw = strawDaemon({ integrations })
    await straw.start()
    const { out } = straw.terminal.printed
    expect(out).toMatch(/^ {2}web +web +up +http:\/\/127\.0\.0\.1:4747\/chat$/m)
    expect(out).toMatch(/^ {2}kate +telegram +up +https:\/\/t\.me\/kate_bot$/m)
    expect(out).toMatch(/^ {2}ci +webhook +down +\(secret:CI leads to nothing\)$/m)
    expect(out).toMatch(/^ {2}old +slack +disabled$/m)
    straw.signal()
    await straw.ended
  })

  it('with --json the banner is one object', async () => {
    const straw = strawDaemon({ globals: { json: true }, config: true })
    await straw.start()
    expect(JSON.parse(straw.terminal.printed.out)).toEqual({
      ready: true,
      url: 'http://127.0.0.1:4747',
      chat_link: 'http://127.0.0.1:4747/chat#one-time',
      data: folder.path,
      config: resolve('my.yaml'),
      pid: process.pid,
    })
    straw.finish(1)
    expect(await straw.ended).toBe(1)
  })

  it('a store that is away at the start: nothing runs, and nobody is told that it is tried again', async () => {
    const hint = 'the disk is full: free some space, it goes on by itself'
    const away = new SwitchboardError('store_unavailable', 'away', { hint })
    const straw = strawDaemon({ fails: away })
    await expect(straw.ended).rejects.toMatchObject({
      code: 'store_unavailable',
      hint: 'the disk is full: free some space; nothing was started: start again when that is mended',
    })
  })

  it('an admin token that is kept nowhere yet: nobody is sent to a command that needs the daemon', async () => {
    const hint = 'store it with `switchboard secrets set ADM`'
    const straw = strawDaemon({
      fails: new SwitchboardError('config_invalid', 'secret:ADM leads to nothing', { hint }),
    })
    await expect(straw.ended).rejects.toMatchObject({
      code: 'config_invalid',
      hint: expect.stringContaining('env:NAME or file:path'),
    })
  })

  it('a second signal ends it at once, but one key press passed on twice is one', async () => {
    const straw = strawDaemon()
    await straw.start()
    straw.signal()
    straw.later(50)
    straw.signal()
    expect(straw.seen.aborts).toBe(0)
    straw.later(1_000)
    straw.signal()
    expect(straw.seen.aborts).toBe(1)
    await straw.ended
  })

  it('[I18.stop] told to stop twice while it starts, it is not torn down half-way; a second Ctrl-C does', async () => {
    const straw = strawDaemon()
    await new Promise((resolve) => setImmediate(resolve))
    straw.signal('SIGTERM')
    straw.later(3_000)
    straw.signal('SIGTERM')
    expect(straw.seen.aborts).toBe(0)
    straw.signal('SIGINT')
    expect(straw.seen.aborts).toBe(1)
    await straw.start()
    expect(await straw.ended).toBe(0)
    expect(straw.seen.stops).toBe(1)
  })

  it('a signal during the start waits for the start and then stops', async () => {
    const straw = strawDaemon({ options: { open: true } })
    await new Promise((resolve) => setImmediate(resolve))
    straw.signal()
    await straw.start()
    expect(await straw.ended).toBe(0)
    expect(straw.seen).toMatchObject({ stops: 1, opened: [] })
    expect(straw.terminal.printed.out).toBe('')
  })

  it('[S14.cli-up-open] --open opens the chat', async () => {
    const straw = strawDaemon({ options: { open: true } })
    await straw.start()
    expect(straw.seen.opened).toEqual(['http://127.0.0.1:4747/chat#one-time'])
    straw.signal()
    await straw.ended
  })
})

describe('init', () => {
  it('[S14.cli-init] writes a file that holds as it stands, and a secret for its owner only', async () => {
    const file = path('switchboard.yaml')
    const told = await command([
      'init',
      '--config',
      file,
      '--agent',
      'kate',
      '--hook',
      'ci',
      '--port',
      '5000',
      ...data(),
    ])
    expect(told.code).toBe(0)
    expect(told.out).toContain(`switchboard up --config ${file}`)
    const secret = path('switchboard.ci.secret')
    expect(statSync(secret).mode & 0o777).toBe(0o600)
    expect(readFileSync(secret, 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    expect(told.out + told.err).not.toContain(readFileSync(secret, 'utf8').trim())
    const checked = await command(['check', file, ...data()])
    expect(checked).toMatchObject({ code: 0, err: '' })
    expect(checked.out).toContain('2 integrations, 1 agent')
  })

  it('what to do next can be pasted, whatever the folder is called', async () => {
    const file = path('a b/switchboard.yaml')
    const told = await command(['init', '--config', file, ...data()])
    expect(told.out).toContain(`switchboard up --config '${file}'`)
  })

  it('overwrites only with --force, and keeps a secret that is in use', async () => {
    const file = path('switchboard.yaml')
    writeFileSync(file, 'mine: true\n')
    const refused = await command(['init', '--config', file, ...data()])
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toContain('--force')
    expect(readFileSync(file, 'utf8')).toBe('mine: true\n')
    expect(existsSync(path('switchboard.alerts.secret'))).toBe(false)
    writeFileSync(path('switchboard.alerts.secret'), 'in use\n')
    const told = await command(['init', '--config', file, '--force', '--json', ...data()])
    expect(told.lines).toMatchObject([{ ok: true, secret_kept: true }])
    expect(readFileSync(path('switchboard.alerts.secret'), 'utf8')).toBe('in use\n')
    expect(readFileSync(file, 'utf8')).toContain('integrations:')
  })

  it.each([
    [['--port', '0'], /port/],
    [['--agent', 'a b'], /not an id/],
    [['--hook', 'web'], /chat page/],
    [['claude-desktop'], /nothing that can be set up\nhint: .*init claude-code/],
    [['claude-code', '--agent', 'a b'], /not an id/],
  ])('%j is refused and nothing is written', async (words, problem) => {
    const told = await command(['init', '--config', path('x.yaml'), ...words, ...data()])
    expect(told.code).toBe(2)
    expect(told.err).toMatch(problem)
    expect(existsSync(path('x.yaml'))).toBe(false)
  })

  it('a folder that cannot be written is an error, not a trace', async () => {
    mkdirSync(path('taken.yaml'))
    const told = await command(['init', '--config', path('taken.yaml'), '--force', ...data()])
    expect(told.code).toBe(1)
    expect(told.err).toMatch(/^error: cannot write /)
  })
})

describe('check and schema', () => {
  it('[S14.cli-check] says file, line, column, what is wrong and what was meant; exit 2', async () => {
    const file = path('wrong.yaml')
    writeFileSync(file, 'integrations:\n  - id: web\n    platfrom: web\n')
    const told = await command(['check', file, ...data()])
    expect(told).toMatchObject({ code: 2, out: '' })
    expect(told.err).toMatch(/wrong\.yaml:\d+:\d+ .*platfrom/)
    expect(told.err).toMatch(/platform/)
    expect(told.err).toMatch(/\nerror: .*problem/)
    const json = await command(['check', '--config', file, '--json', ...data()])
    expect(json.code).toBe(2)
    expect(json.lines).toMatchObject([{ ok: false, file }])
  })

  it('a file that is not there is exit 2', async () => {
    const told = await command(['check', path('none.yaml'), ...data()])
    expect(told.code).toBe(2)
    expect(told.err).toContain('no such file')
  })

  it('schema prints JSON Schema, on one line with --json', async () => {
    const pretty = await command(['schema'])
    expect(JSON.parse(pretty.out)).toMatchObject({ $schema: expect.stringContaining('json-schema.org') })
    expect((await command(['schema', '--json'])).lines).toEqual([JSON.parse(pretty.out)])
  })
})
