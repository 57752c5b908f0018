// `agents add` of an agent that runs as a program: it is started and asked who it is before a line is written.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { command, temporaryFolder } from './fixtures/fake-daemon.ts'

let folder: ReturnType<typeof temporaryFolder>
let file: string
beforeEach(() => {
  folder = temporaryFolder()
  file = join(folder.path, 'switchboard.yaml')
  writeFileSync(file, 'integrations:\n  - { id: web, platform: web }\n')
})
afterEach(() => folder.done())

const agents = (...words: string[]) =>
  command(['agents', ...words, '--config', file, '--data', join(folder.path, 'data')])
const written = () => readFileSync(file, 'utf8')

describe('[S14.cli-agents] agents add', () => {
  it('[I22.cc-setup] [I22.acp-setup] one that starts a program is tried with it before anything is written', async () => {
    const fixture = (name: string) => join(import.meta.dirname, '../agents', name)
    const claude = join(folder.path, 'claude')
    const double = fixture('claude-code/fixtures/claude-double.mjs')
    writeFileSync(
      claude,
      `#!/bin/sh\nexport HOME="${folder.path}"\nexec "${process.execPath}" "${double}" "$@"\n`,
    )
    chmodSync(claude, 0o755)
    const before = written()
    const add = (...words: string[]) => agents('add', 'leo', '--bind', 'web:web', '--write', ...words)
    const missing = await add('--connector', 'claude-code', '--command', '/nonexistent/claude')
    expect(missing).toMatchObject({ code: 1, err: expect.stringMatching(/nonexistent[\s\S]*npm install/) })
    expect(await add('--connector', 'acp')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--command is missing'),
    })
    expect(await add('--connector', 'demo', '--cwd', '.')).toMatchObject({ code: 2 })
    expect(written()).toBe(before)
    const added = await add('--connector', 'claude-code', '--command', claude, '--cwd', folder.path)
    expect(added).toMatchObject({
      code: 0,
      err: expect.stringContaining('this is Claude Code 2.1.325, signed in'),
    })
    expect(written()).toContain(`command: ${claude}`)
    const agent = `${process.execPath} ${fixture('acp/fixtures/scripted-agent.mjs')}`
    const told = await agents(
      'add',
      'ann',
      '--bind',
      'x:y',
      '--connector',
      'acp',
      '--command',
      agent,
      '--cwd',
      folder.path,
      '--json',
    )
    expect(told).toMatchObject({
      code: 0,
      lines: [{ ok: true, who: expect.stringContaining('scripted 1.2.3') }],
    })
  })
})
