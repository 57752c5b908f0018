// `switchboard service`: this instance as a service of the user, by systemd or launchd: written, started, shown, taken away.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { realPath } from '../../../config/instance/instance.ts'
import { defined, SwitchboardError } from '../../../contract/index.ts'
import { wordsIn } from '../../../words/index.ts'
import { daemonNow } from '../../background.ts'
import type { Context, Run } from '../../context.ts'
import { usage } from '../../failure.ts'
import { oneLine } from '../../output/text.ts'
import { demandGivenFile, remember } from '../../own-instance.ts'
import { ownProgram } from '../../own-program.ts'
import { launchdLabel, launchdPlist } from '../../service/launchd-plist.ts'
import { type ServicePlan, systemdUnit } from '../../service/systemd-unit.ts'

export interface ServiceOptions {
  /** Of the tests and of packagers; else this machine's. */
  readonly manager?: string
  /** False with --no-start. */
  readonly start?: boolean
  readonly print?: boolean
}

interface Manager {
  readonly file: string
  readonly text: string
  /** Programs and their words, in order. */
  readonly install: readonly (readonly string[])[]
  readonly uninstall: readonly (readonly string[])[]
  readonly reread: readonly (readonly string[])[]
  readonly state: readonly string[]
  readonly after: readonly string[]
}

export const installService: Run<ServiceOptions> = async (context, _args, options) => {
  demandGivenFile(context.instance)
  const manager = managerOf(context, options)
  if (options.print === true) {
    await context.print(manager.text.trimEnd())
    return 0
  }
  await warnOfEnvironment(context)
  await writeWhole(manager.file, manager.text)
  remember(context)
  const words = wordsIn().daemonCommands.service
  const failed = options.start === false ? null : await runAll(context, manager.install)
  if (context.json)
    await context.printJson({
      ok: failed === null,
      file: manager.file,
      started: options.start !== false && failed === null,
    })
  else {
    await context.print(words.wrote({ file: manager.file, mark: context.paint.green }))
    if (options.start === false) await context.print(words.startWith({ commands: shown(manager.install) }))
    else if (failed === null) for (const line of manager.after) await context.print(line)
  }
  if (failed !== null) throw notStarted(failed, manager.install)
  return 0
}

export const uninstallService: Run<ServiceOptions> = async (context, _args, options) => {
  const manager = managerOf(context, options)
  const there = existsSync(manager.file)
  if (there) {
    // A service that was never started cannot be stopped; the file goes all the same.
    await runAll(context, manager.uninstall)
    await rm(manager.file, { force: true })
    await runAll(context, manager.reread)
  }
  if (context.json) await context.printJson({ ok: true, removed: there, file: manager.file })
  else {
    const { removed, absent } = wordsIn().daemonCommands.service
    await context.print((there ? removed : absent)(manager))
  }
  return 0
}

export const serviceStatus: Run<ServiceOptions> = async (context, _args, options) => {
  const manager = managerOf(context, options)
  const installed = existsSync(manager.file)
  const [program = '', ...words] = manager.state
  const asked = installed ? await runOne(context, program, words) : null
  const state =
    asked === null ? 'not installed' : asked.said === '' ? (asked.problem ?? 'unknown') : asked.said
  const note = await daemonNow(context)
  const stale = installed && !(await isCurrent(manager))
  if (context.json)
    await context.printJson({
      installed,
      file: manager.file,
      state,
      stale,
      pid: note?.pid ?? null,
      as_service: note?.service !== undefined,
    })
  else {
    const words = wordsIn().daemonCommands.service
    await context.print(words.service({ state: oneLine(state), file: installed ? manager.file : null }))
    await context.print(
      note === null ? words.noDaemon : words.daemon({ pid: note.pid, asService: note.service !== undefined }),
    )
    if (stale) context.note(context.paint.yellow(words.stale))
    if (!installed) context.note(words.install)
  }
  return installed && note !== null ? 0 : 1
}

function managerOf(context: Context, { manager }: ServiceOptions): Manager {
  const words = wordsIn().daemonCommands.service
  const kind = manager ?? (process.platform === 'darwin' ? 'launchd' : 'systemd')
  const { env } = context.terminal
  const plan = planOf(context)
  const home = env.HOME || homedir()
  if (kind === 'launchd') {
    const file = join(home, 'Library/LaunchAgents', `${launchdLabel(plan.name)}.plist`)
    const domain = `gui/${process.getuid?.() ?? 0}`
    const target = `${domain}/${launchdLabel(plan.name)}`
    return {
      ...{ file, text: launchdPlist(plan), reread: [], after: [words.atLogin] },
      install: [['launchctl', 'bootstrap', domain, file]],
      uninstall: [['launchctl', 'bootout', target]],
      state: ['launchctl', 'print', target],
    }
  }
  if (kind !== 'systemd') throw usage(`--manager: "${oneLine(kind)}" is neither systemd nor launchd`)
  const file = join(env.XDG_CONFIG_HOME || join(home, '.config'), 'systemd/user', `${plan.name}.service`)
  const ctl = (...args: string[]) => ['systemctl', '--user', ...args]
  return {
    ...{ file, text: systemdUnit(plan) },
    install: [ctl('daemon-reload'), ctl('enable', '--now', `${plan.name}.service`)],
    uninstall: [ctl('disable', '--now', `${plan.name}.service`)],
    reread: [ctl('daemon-reload')],
    state: ctl('is-active', `${plan.name}.service`),
    after: [words.logs(plan), words.linger],
  }
}

function planOf(context: Context): ServicePlan {
  const { instance, folder, terminal } = context
  const [node = process.execPath, ...words] = ownProgram()
  const script = realPath(words.pop() ?? '')
  const config = instance.config === null ? [] : ['--config', instance.config.file]
  const data = instance.data.from === 'beside' ? [] : ['--data', folder.path]
  const name =
    instance.name === 'default'
      ? 'switchboard'
      : `switchboard-${instance.name.replace(/[^A-Za-z0-9_.-]/g, '_')}`
  const path = terminal.env.PATH
  return {
    name,
    description: `Switchboard (${oneLine(instance.name)})`,
    command: [node, ...words, script, 'up', '--json', '--detached', ...config, ...data],
    workingFolder: instance.config === null ? terminal.env.HOME || homedir() : dirname(instance.config.file),
    environment: defined({ PATH: path }),
    logFile: folder.logFile,
  }
}

/** A service sees nothing of the shell that installed it. */
async function warnOfEnvironment(context: Context): Promise<void> {
  const file = context.configFile()
  if (file === null) return
  const { environmentReferences } = await import('../../../setup/check-file.ts')
  const names = await environmentReferences(file, context.folder)
  if (names.length === 0) return
  const references = names.map((name) => `env:${name}`).join(', ')
  context.warn(wordsIn().daemonCommands.service.environment({ references, file }))
}

async function isCurrent({ file, text }: Manager): Promise<boolean> {
  const { readFile } = await import('node:fs/promises')
  return (await readFile(file, 'utf8').catch(() => '')) === text
}

async function writeWhole(file: string, text: string): Promise<void> {
  const fresh = `${file}.${process.pid}.new`
  try {
    await mkdir(dirname(file), { recursive: true })
    await writeFile(fresh, text, { mode: 0o644 })
    await rename(fresh, file)
  } catch (thrown) {
    await rm(fresh, { force: true })
    throw new SwitchboardError('execution_failed', `cannot write ${file}: ${(thrown as Error).message}`, {
      cause: thrown,
    })
  }
}

const TOLD_WITHIN_MS = 150_000

function runOne(context: Context, program: string, words: readonly string[]) {
  return new Promise<{ readonly said: string; readonly problem: string | null }>((resolve) => {
    const { env } = context.terminal
    execFile(program, [...words], { env, timeout: TOLD_WITHIN_MS, encoding: 'utf8' }, (thrown, out, err) => {
      const problem = thrown === null ? null : err.trim() || thrown.message
      resolve({ said: out.trim().split('\n')[0] ?? '', problem })
    })
  })
}

/** What the first that failed said; null: none did. */
async function runAll(context: Context, all: Manager['install']): Promise<string | null> {
  for (const [program = '', ...words] of all) {
    const { problem } = await runOne(context, program, words)
    if (problem !== null) return `${program}: ${oneLine(problem)}`
  }
  return null
}

const shown = (all: Manager['install']) => all.map((words) => words.join(' ')).join(' && ')

function notStarted(why: string, commands: Manager['install']): SwitchboardError {
  return new SwitchboardError('execution_failed', `the service is written, but not started: ${why}`, {
    hint: `when that is mended: ${shown(commands)}`,
  })
}
