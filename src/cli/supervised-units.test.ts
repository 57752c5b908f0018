// The instance as a service: what is written, what the managers are told, and what of it their own tools think.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { command, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'
import { launchdPlist } from './service/launchd-plist.ts'
import { type ServicePlan, systemdUnit } from './service/systemd-unit.ts'

let folder: ReturnType<typeof temporaryFolder>
const path = (name: string) => join(folder.path, name)

beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.done())

/** Words that every quoting has to survive. */
const PLAN: ServicePlan = {
  name: 'switchboard-a b',
  description: 'Switchboard (100% "mine")',
  command: ['/usr/bin/env', '/a b/100%/$HOME/"q"\\x/main.js', 'up', '--json', '--data', "/it's & <that>"],
  workingFolder: '/tmp',
  environment: { PATH: '/usr/bin:/a b/bin' },
  logFile: '/tmp/a & b.log',
}

const has = (program: string) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`])
    return true
  } catch {
    return false
  }
}

describe('the systemd unit', () => {
  it('[I18.service-systemd] is notified, watched and hardened, and no word of it is a specifier or a variable', () => {
    const unit = systemdUnit(PLAN)
    for (const line of [
      ...['Type=notify', 'NotifyAccess=all', 'WatchdogSec=60', 'Restart=on-failure', 'UMask=0077'],
      ...[
        'NoNewPrivileges=yes',
        'RestrictSUIDSGID=yes',
        'SystemCallArchitectures=native',
        'WantedBy=default.target',
      ],
    ])
      expect(unit.split('\n')).toContain(line)
    const exec = /^ExecStart=(.*)$/m.exec(unit)?.[1] ?? ''
    expect(exec).toBe(
      '/usr/bin/env "/a b/100%%/$$HOME/\\"q\\"\\\\x/main.js" up --json --data "/it\'s & <that>"',
    )
  })

  it('[I18.service-systemd] is taken by systemd-analyze verify', (context) => {
    if (!has('systemd-analyze')) return context.skip('systemd-analyze is not installed')
    const file = path('switchboard-check.service')
    writeFileSync(file, systemdUnit(PLAN))
    let said = ''
    try {
      execFileSync('systemd-analyze', ['--user', 'verify', '--man=no', file], {
        encoding: 'utf8',
        stdio: 'pipe',
      })
    } catch (thrown) {
      said = String((thrown as { stderr?: unknown }).stderr)
    }
    // Units of the machine that runs the test are none of ours.
    expect(said.split('\n').filter((line) => line.includes('switchboard-check'))).toEqual([])
  })
})

it('[I18.service-launchd] the plist is read back by a parser, word for word', (context) => {
  if (!has('python3')) return context.skip('python3, whose plistlib reads it, is not installed')
  const script = 'import json,plistlib,sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const read = JSON.parse(
    execFileSync('python3', ['-c', script], { input: launchdPlist(PLAN), encoding: 'utf8' }),
  )
  expect(read).toMatchObject({
    Label: 'local.switchboard-a b',
    ProgramArguments: PLAN.command,
    EnvironmentVariables: PLAN.environment,
    KeepAlive: { SuccessfulExit: false },
    StandardErrorPath: PLAN.logFile,
  })
})

describe('service', () => {
  /** A manager that notes what it is told. */
  function service(
    words: readonly string[],
    manager = '#!/bin/sh\necho "$@" >> "$HOME/told"\necho active\n',
  ) {
    mkdirSync(path('bin'), { recursive: true })
    for (const name of ['systemctl', 'launchctl'])
      writeFileSync(path(`bin/${name}`), manager, { mode: 0o755 })
    const env = { HOME: folder.path, PATH: `${path('bin')}:/usr/bin:/bin` }
    return command(['service', ...words], rememberingTerminal({ cwd: () => folder.path, env }))
  }
  const unit = () => path('.config/systemd/user/switchboard.service')

  it('[I18.service-systemd] [I18.service-status] is installed, started, shown and taken away', async () => {
    expect(await service(['install', '--manager', 'systemd'])).toMatchObject({ code: 0 })
    expect(readFileSync(unit(), 'utf8')).toContain('--detached')
    expect(readFileSync(path('told'), 'utf8')).toBe(
      '--user daemon-reload\n--user enable --now switchboard.service\n',
    )
    const told = await service(['status', '--manager', 'systemd', '--json'])
    expect(told.lines).toMatchObject([{ installed: true, state: 'active', stale: false, pid: null }])
    // Installed, and nothing runs: that is no success.
    expect(told.code).toBe(1)
    writeFileSync(unit(), 'another\n')
    expect((await service(['status', '--manager', 'systemd', '--json'])).lines).toMatchObject([
      { stale: true },
    ])
    expect(await service(['uninstall', '--manager', 'systemd'])).toMatchObject({ code: 0 })
    expect(existsSync(unit())).toBe(false)
    expect((await service(['status', '--manager', 'systemd'])).out).toContain('not installed')
  })

  it('[I18.service-systemd] a manager that fails is quoted, with what to run later; --no-start asks none', async () => {
    const failing = '#!/bin/sh\necho "Failed to connect to bus" >&2\nexit 1\n'
    const told = await service(['install', '--manager', 'systemd'], failing)
    expect(told.code).toBe(1)
    expect(told.err).toMatch(
      /not started: systemctl: Failed to connect to bus\nhint: .*systemctl --user daemon-reload &&/,
    )
    const quiet = await service(['install', '--manager', 'systemd', '--no-start'], failing)
    expect(quiet).toMatchObject({ code: 0, err: '' })
  })

  it('[I18.service-systemd] variables that a service would not see are warned of', async () => {
    writeFileSync(
      path('switchboard.yaml'),
      'integrations:\n  - { id: tg, platform: telegram, token: "env:TG_TOKEN" }\n',
    )
    const told = await service(['install', '--manager', 'systemd', '--no-start'])
    expect(told.err).toMatch(/warning: env:TG_TOKEN .*will be empty for a service.*secret:NAME/)
  })

  it('[I18.service-launchd] on macOS it is an agent of the user', async () => {
    expect(await service(['install', '--manager', 'launchd'])).toMatchObject({ code: 0 })
    expect(existsSync(path('Library/LaunchAgents/local.switchboard.plist'))).toBe(true)
    expect(readFileSync(path('told'), 'utf8')).toMatch(/^bootstrap gui\/\d+ .*local\.switchboard\.plist$/m)
  })
})
