// Secrets and git: what init keeps out of a repository, and what check says of one that would go in, or is in.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { command, rememberingTerminal, temporaryFolder } from './fixtures/fake-daemon.ts'

function place(repository: boolean) {
  const folder = temporaryFolder()
  onTestFinished(() => folder.done())
  if (repository) execFileSync('git', ['init', '-q'], { cwd: folder.path })
  const path = (name: string) => join(folder.path, name)
  const words = ['--config', path('switchboard.yaml'), '--data', path('data')]
  return {
    path,
    init: (...more: string[]) => command(['init', ...words, ...more]),
    check: () => command(['check', ...words]),
    folder: folder.path,
  }
}

const SECRET = 'switchboard.alerts.secret'

describe('in a git repository', () => {
  it('[I18.gitignore] init ignores its secrets and the data folder, adds only what is missing, and says so', async () => {
    const { path, init, check, folder } = place(true)
    writeFileSync(path('.gitignore'), 'node_modules')
    const told = await init()
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('.gitignore') })
    const written = readFileSync(path('.gitignore'), 'utf8')
    expect(written).toMatch(
      /^node_modules\n# Switchboard.*\n\/\.switchboard\/\n\/switchboard\.alerts\.secret\n$/,
    )
    const open = execFileSync('git', ['status', '--porcelain', '-uall'], { cwd: folder }).toString()
    expect(open).not.toContain('secret')
    expect((await init('--force')).code).toBe(0)
    expect(readFileSync(path('.gitignore'), 'utf8')).toBe(written)
    expect(await check()).toMatchObject({ code: 0, err: '' })
  })

  it('[I18.secret-in-git] check warns of a secret that git would take, and of one that it has', async () => {
    const { path, init, check, folder } = place(true)
    await init()
    writeFileSync(path('.gitignore'), '')
    expect((await check()).err).toMatch(/switchboard\.alerts\.secret holds a secret, and git would take it/)
    execFileSync('git', ['add', '-f', SECRET], { cwd: folder })
    writeFileSync(path('.gitignore'), `${SECRET}\n`)
    expect((await check()).err).toMatch(/git has it: git rm --cached/)
  })

  it('[I18.gitignore] init claude-code ignores the data folder, and says so', async () => {
    const { path, folder } = place(true)
    const here = rememberingTerminal({ cwd: () => folder, env: { HOME: folder } })
    const told = await command(['init', 'claude-code', '--config', path('switchboard.yaml')], here)
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('.gitignore') })
    expect(readFileSync(path('.gitignore'), 'utf8')).toMatch(/^# Switchboard.*\n\/\.switchboard\/\n$/)
  })

  it('[I18.secret-in-git] check warns of the keys of a data folder that git would take', async () => {
    const { path, init, check } = place(true)
    await init()
    mkdirSync(path('data'))
    for (const name of ['switchboard.key', 'ledger.key', 'admin.token']) {
      writeFileSync(path(`data/${name}`), 'x')
      expect((await check()).err).toContain(`${path(`data/${name}`)} holds a secret, and git would take it`)
    }
    writeFileSync(path('data/.gitignore'), '*\n')
    expect((await check()).err).toBe('')
  })

  it('[I18.gitignore] a repository further up counts, too', async () => {
    const { path, folder } = place(true)
    mkdirSync(path('deep'))
    const file = join(folder, 'deep', 'switchboard.yaml')
    await command(['init', '--config', file, '--data', path('data')])
    expect(existsSync(path('deep/.gitignore'))).toBe(true)
    expect(existsSync(path('.gitignore'))).toBe(false)
  })
})

describe('without a repository', () => {
  it('[I18.gitignore] nothing is written beside the configuration, and nothing is said', async () => {
    const { path, init, check } = place(false)
    expect((await init()).out).not.toContain('.gitignore')
    expect(existsSync(path('.gitignore'))).toBe(false)
    expect(await check()).toMatchObject({ code: 0, err: '' })
  })
})
