// Starts a daemon that outlives whoever asked for it. Two who ask at once start two, and the kernel's lock on the data
// folder lets one of them live.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DataFolder } from '../config/data-folder.ts'
import { realPath } from '../config/instance.ts'
import { readLastLife } from '../config/last-life.ts'
import { asSwitchboardError, type Clock, type Logger } from '../contract/index.ts'
import { unknownFile } from './own-daemon.ts'

export interface ReviveOptions {
  readonly folder: DataFolder
  readonly configFile: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: readonly string[]
}

const AGAIN_MS = 3_000
const SLOWER_MS = 30_000
const IDLE_EXIT = '10m'

/** So much of the log's end is looked at for why a start failed. */
const LOG_TAIL_BYTES = 8_192
const MOST_WORDS = 500

export interface Reviver {
  /** Starts a daemon, unless one is being started or the last one was stopped by its operator. */
  revive(): void
  /** Why there is none; null: nothing is known to be wrong. */
  problem(): string | null
}

/** May be called as often as wanted: one start is under way at a time, and one that keeps failing is tried less often. */
export function createReviver(
  options: ReviveOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): Reviver {
  const { folder } = options
  let why: string | null = null
  let notBefore = 0
  let failures = 0
  let running = false

  const start = (failed: (thrown: unknown) => void, ended: (code: number | null) => void) => {
    mkdirSync(folder.path, { recursive: true, mode: 0o700 })
    const log = openSync(folder.logFile, 'a', 0o600)
    const [program = process.execPath, ...words] = options.program
    const config = options.configFile === null ? [] : ['--config', options.configFile]
    // Where the one before it listened: whoever knew that place finds the next one there.
    const life = readLastLife(folder)
    const place = life ? ['--host', life.host, '--port', String(life.port)] : []
    const args = [
      ...words,
      'up',
      '--json',
      '--idle-exit',
      IDLE_EXIT,
      ...(isBeside(options) ? [] : ['--data', folder.path]),
      ...config,
      ...place,
    ]
    try {
      const child = spawn(program, args, {
        cwd: options.configFile === null ? folder.path : dirname(options.configFile),
        env: daemonEnvironment(options.env),
        detached: true,
        stdio: ['ignore', log, log],
      })
      child.once('error', failed)
      child.once('exit', ended)
      child.unref()
    } finally {
      closeSync(log)
    }
  }

  const stopped = () => readLastLife(folder)?.end === 'stopped'

  const revive = () => {
    const now = deps.clock.now()
    if (running || now < notBefore || stopped()) return
    why = unknownFile(options.configFile, options.env)
    if (why !== null) return
    notBefore = now + (failures > 3 ? SLOWER_MS : AGAIN_MS)
    running = true
    const failed = (thrown: unknown) => {
      running = false
      failures += 1
      why = asSwitchboardError(thrown).message
      deps.log.error({ error: why }, 'no daemon could be started')
    }
    try {
      start(failed, (code) => {
        running = false
        why = code === 0 ? null : lastWords(folder.logFile)
        failures = deps.clock.now() - now < SLOWER_MS ? failures + 1 : 0
        // 1 is also what the loser of two starts ends with: the log in the folder has the story.
        deps.log.warn({ code, log: folder.logFile }, 'the daemon that was started has ended')
      })
    } catch (thrown) {
      // A folder that cannot be written: whoever asked goes on without a daemon, and asks again.
      failed(thrown)
    }
  }

  return {
    revive,
    problem() {
      if (stopped())
        return 'The gateway was stopped by its operator, and stays so until `switchboard up` is run.'
      if (why === null) return null
      const unknown = unknownFile(options.configFile, options.env)
      return unknown ?? `The gateway could not be started: ${why} (log: ${folder.logFile})`
    },
  }
}

/** Then the folder follows from the file, and to name it would say that starting anew beside older data is meant. */
function isBeside({ folder, configFile, env }: ReviveOptions): boolean {
  if (configFile === null || env.SWITCHBOARD_DATA) return false
  return folder.path === join(dirname(realPath(configFile)), '.switchboard')
}

/** The error that a daemon ended with is the last line that it wrote. */
function lastWords(file: string): string | null {
  try {
    const lines = readFileSync(file).subarray(-LOG_TAIL_BYTES).toString('utf8').trimEnd().split('\n')
    const last = lines.at(-1) ?? ''
    const words = last.startsWith('{') ? wordsOf(JSON.parse(last)) : last
    return words.slice(0, MOST_WORDS)
  } catch {
    return null
  }
}

function wordsOf(line: Readonly<Record<string, unknown>>): string {
  const hint = typeof line.hint === 'string' ? ` (${line.hint})` : ''
  const said = [line.error, line.msg, line.message].find((one) => typeof one === 'string')
  return `${said ?? JSON.stringify(line)}${hint}`
}

/** What belongs to the host's session is not the daemon's: it serves others too, and lives longer. */
function daemonEnvironment(env: ReviveOptions['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('CLAUDE_CODE_') && name !== 'CLAUDECODE'),
  )
}
