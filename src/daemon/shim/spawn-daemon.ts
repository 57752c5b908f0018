// Starts a daemon as a process of its own, which outlives whoever asked for it and writes to the log of its folder.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type DataFolder, makeOwnFolder } from '../../config/instance/data-folder.ts'
import { realPath } from '../../config/instance/instance.ts'

export interface SpawnOptions {
  readonly folder: DataFolder
  readonly configFile: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  /** How this program is started: node's arguments up to the command. */
  readonly program: readonly string[]
}

/** So much of the log's end is looked at for why a start failed. */
const LOG_TAIL_BYTES = 8_192
const MOST_WORDS = 500
/** A log that is larger is put aside, once, when a daemon starts. */
const LARGE_LOG_BYTES = 16 * 1024 * 1024

/** `up` are the words behind `up --json`. Throws what the file system says. */
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

/** Then the folder follows from the file: naming it would say that the daemon may start empty beside older data. */
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

/** The error that a daemon ended with is the last line that it wrote. Null: nothing can be read. */
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

/** What belongs to the host's session is not the daemon's: it serves others too, and lives longer. */
function daemonEnvironment(env: SpawnOptions['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('CLAUDE_CODE_') && !NOT_ITS_OWN.includes(name)),
  )
}
