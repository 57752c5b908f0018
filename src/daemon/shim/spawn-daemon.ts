// Starts a daemon as a separate process, which outlives its caller and writes to the log of its folder.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DataFolder, makeOwnFolder } from '../../config/instance/data-folder.ts'
import { realPath } from '../../config/instance/instance.ts'

export interface SpawnOptions {
  readonly folder: DataFolder
  readonly configFile: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** Node's arguments that start this program, up to the command. */
  readonly program: readonly string[]
}

/** How much of the log's end is searched for the reason of a failed start. */
const LOG_TAIL_BYTES = 8_192
const MOST_WORDS = 500
/** A larger log is rotated once, when a daemon starts. */
const LARGE_LOG_BYTES = 16 * 1024 * 1024

/** `up` contains the arguments after `up --json`. Throws the errors of the file system. */
export function spawnDaemon(options: SpawnOptions, up: readonly string[]): ChildProcess {
  const { folder, configFile } = options
  makeOwnFolder(folder)
  putLargeLogAside(folder.logFile)
  const log = openSync(folder.logFile, 'a', 0o600)
  const [program = process.execPath, ...words] = options.program
  const args = [
    ...[...words, 'up', '--json', ...up],
    ...(isBeside(options) ? [] : ['--data', folder.path]),
    ...(configFile === null ? [] : ['--config', configFile]),
  ]
  try {
    const child = spawn(program, args, {
      cwd: configFile === null ? folder.path : dirname(configFile),
      env: daemonEnvironment(options.env),
      detached: true,
      stdio: ['ignore', log, log],
    })
    child.unref()
    return child
  } finally {
    closeSync(log)
  }
}

/** Whether the folder follows from the file. Naming it would allow the daemon to start empty beside older data. */
function isBeside({ folder, configFile, env }: SpawnOptions): boolean {
  if (configFile === null || env.SWITCHBOARD_DATA) return false
  return folder.path === join(dirname(realPath(configFile)), '.switchboard')
}

function putLargeLogAside(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > LARGE_LOG_BYTES) renameSync(file, `${file}.1`)
}

export interface LastWords {
  readonly code: string | null
  readonly text: string
  readonly hint: string | null
}

/** Returns the error that ended the daemon: the last line of its log. Null if nothing can be read. */
export function lastWords(file: string): LastWords | null {
  try {
    const lines = readFileSync(file).subarray(-LOG_TAIL_BYTES).toString('utf8').trimEnd().split('\n')
    const last = lines.at(-1) ?? ''
    if (!last.startsWith('{')) return { code: null, text: last.slice(0, MOST_WORDS), hint: null }
    const line = JSON.parse(last) as Readonly<Record<string, unknown>>
    const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MOST_WORDS) : null)
    const said = text(line.error) ?? text(line.msg) ?? text(line.message) ?? last.slice(0, MOST_WORDS)
    return { code: text(line.code), text: said, hint: text(line.hint) }
  } catch {
    return null
  }
}

const NOT_ITS_OWN = ['CLAUDECODE', 'NOTIFY_SOCKET', 'WATCHDOG_USEC', 'WATCHDOG_PID', 'SWITCHBOARD_UNIT']

/** Removes variables of the host's session, because the daemon lives longer and serves others too. */
function daemonEnvironment(env: SpawnOptions['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('CLAUDE_CODE_') && !NOT_ITS_OWN.includes(name)),
  )
}
