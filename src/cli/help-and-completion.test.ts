// Help that fits a narrow terminal, completion from the table of commands, schedules by command.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CommandHelp } from '../words/en/help.ts'
import { wordsIn } from '../words/index.ts'
import { command, freshFolder } from './fixtures/fake-daemon.ts'
import { createProgram } from './program.ts'

const { start, data } = freshFolder()
const program = createProgram(async () => undefined, { out: () => undefined, err: () => undefined })
const all = (one: Command): readonly Command[] => [one, ...one.commands.flatMap(all)]

describe('help', () => {
  it('[I18.help-grouped] is grouped, and every line of every command fits 80 columns', async () => {
    const { out } = await command(['--help'])
    for (const heading of ['Start and set up:', 'Look:', 'People:', 'Keep:'])
      expect(out).toContain(`\n${heading}\n`)
    for (const one of all(program)) {
      const wide = one
        .helpInformation()
        .split('\n')
        .filter((line) => line.length > 80)
      expect({ of: one.name(), wide }).toEqual({ of: one.name(), wide: [] })
    }
  })

  it('explains every command and option from the catalogue, which explains nothing else', () => {
    const pathOf = (one: Command): string =>
      one.parent === null || one.parent.parent === null ? one.name() : `${pathOf(one.parent)} ${one.name()}`
    const { help } = wordsIn()
    expect(all(program).map(pathOf).toSorted()).toEqual(Object.keys(help).toSorted())
    for (const one of all(program)) {
      const { options = {} }: CommandHelp = help[pathOf(one) as keyof typeof help]
      const shown = one.options.filter((option) => !option.hidden).map((option) => option.long)
      expect({ of: pathOf(one), about: one.description() !== '', shown: shown.toSorted() }).toEqual({
        of: pathOf(one),
        about: true,
        shown: Object.keys(options).toSorted(),
      })
    }
  })
})

describe('completion', () => {
  const complete = async (...words: string[]) => {
    const { out } = await command(['completion', 'bash'])
    const typed = words.map((word) => `'${word}'`).join(' ')
    const script = `${out}\nCOMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _switchboard; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
  }

  it('[I18.completion] bash completes commands, verbs and options, behind options too', async () => {
    expect(await complete('switchboard', 'sch')).toEqual(['schema', 'schedules'])
    expect(await complete('swb', 'agents', '')).toContain('add')
    expect(await complete('switchboard', '--json', 'turns', 'sh')).toEqual(['show'])
    expect(await complete('switchboard', 'up', '--d')).toEqual(['--detach', '--data'])
    expect(await complete('switchboard', 'integrations', 'add', '--pl')).toEqual(['--platform'])
    expect(await complete('switchboard', '')).toEqual(
      expect.arrayContaining(program.commands.map((one) => one.name())),
    )
    // What is hidden is not offered.
    expect(await complete('switchboard', 'up', '--detached')).toEqual([''])
  })

  /** What it offers, without the words that explain it; files only where one may stand. */
  function completedByFish(script: string, folder: string): readonly string[] {
    writeFileSync(join(folder, 'adfile'), '')
    const asked = ['switchboard sch', 'swb agents ad', 'switchboard up --det'].map(
      (line) => `complete -C '${line}'`,
    )
    const told = execFileSync('fish', ['-c', `source '${script}'; ${asked.join('; ')}`], {
      cwd: folder,
      encoding: 'utf8',
    })
    return told
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '')
  }

  it('[I18.completion] zsh and fish name the same commands; another shell is told what there is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'swb-completion-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const shell of ['zsh', 'fish']) {
      const { out, code } = await command(['completion', shell])
      expect(code).toBe(0)
      for (const one of program.commands) expect(out).toMatch(new RegExp(`\\b${one.name()}\\b`))
      try {
        execFileSync('sh', ['-c', `command -v ${shell}`])
      } catch {
        continue
      }
      // By a file: fish reads no socket, which is what a pipe of ours is.
      const script = join(folder, `completion.${shell}`)
      writeFileSync(script, out)
      execFileSync(shell, ['-n', script])
      if (shell === 'fish')
        expect(completedByFish(script, folder)).toEqual(['schedules', 'schema', 'add', '--detach'])
    }
    const none = await command(['completion', 'cmd'])
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('one of: bash, zsh, fish') })
  })
})

describe('schedules', () => {
  const one = {
    agent: 'kate',
    cron: '0 9 * * *',
    tz: 'UTC',
    prompt: 'Post it.',
    next_at: '2026-01-03T09:00:00.000Z',
  }
  const schedules = [
    { ...one, id: 'standup', last: { at: '2026-01-02T09:00:00.000Z', outcome: 'run', turn: 't_1' } },
    { ...one, id: 'both', last: null },
    { ...one, id: 'both', agent: 'max', last: null },
  ]

  it('[I18.schedules-list] names each with its next run and its last', async () => {
    await start({ 'GET /api/status': { schedules } })
    const { out } = await command(['schedules', ...data()])
    expect(out).toMatch(/standup +kate +0 9 \* \* \* +UTC +in 21h +3h ago \(run\) +Post it\./)
    expect((await command(['schedules', 'list', '--json', ...data()])).lines).toEqual(schedules)
  })

  it('[I18.schedules-run] starts one; which one has to be said where several have the name', async () => {
    const daemon = await start({
      'GET /api/status': { schedules },
      'POST /api/schedules/max/both/run': { turn: 't_9' },
    })
    expect((await command(['schedules', 'run', 'both', ...data()])).err).toContain('which one: --agent kate')
    expect((await command(['schedules', 'run', 'none', ...data()])).err).toContain('standup (kate)')
    const told = await command(['schedules', 'run', 'both', '--agent', 'max', ...data()])
    expect(told).toMatchObject({ code: 0, out: expect.stringContaining('turn t_9') })
    expect(daemon.asked.at(-1)).toMatchObject({ method: 'POST', path: '/api/schedules/max/both/run' })
  })
})
