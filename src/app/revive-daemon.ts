// Starts a daemon that outlives whoever asked for it. Two who ask at once start two, and the kernel's lock on the data
// folder lets one of them live.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DataFolder } from '../config/data-folder.ts'
import { asSwitchboardError, type Clock, type Logger } from '../contract/index.ts'

export interface ReviveOptions {
  readonly folder: DataFolder
  readonly configFile: string | null
  readonly env: Readonly<Record<string, string | undefined>>
  readonly program: readonly string[]
}

const AGAIN_MS = 3_000
const SLOWER_MS = 30_000
const IDLE_EXIT = '10m'

/** May be called as often as wanted: one start is under way at a time, and one that keeps failing is tried less often. */
export function createReviver(
  options: ReviveOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): () => void {
  const { folder } = options
  let notBefore = 0
  let failures = 0
  let running = false

  const start = (failed: (thrown: unknown) => void, ended: (code: number | null) => void) => {
    mkdirSync(folder.path, { recursive: true, mode: 0o700 })
    const log = openSync(folder.logFile, 'a', 0o600)
    const [program = process.execPath, ...words] = options.program
    const config = options.configFile === null ? [] : ['--config', options.configFile]
    const args = [...words, 'up', '--json', '--idle-exit', IDLE_EXIT, '--data', folder.path, ...config]
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

  return () => {
    const now = deps.clock.now()
    if (running || now < notBefore) return
    notBefore = now + (failures > 3 ? SLOWER_MS : AGAIN_MS)
    running = true
    const failed = (thrown: unknown) => {
      running = false
      failures += 1
      deps.log.error({ error: asSwitchboardError(thrown).message }, 'no daemon could be started')
    }
    try {
      start(failed, (code) => {
        running = false
        failures = deps.clock.now() - now < SLOWER_MS ? failures + 1 : 0
        // 1 is also what the loser of two starts ends with: the log in the folder has the story.
        deps.log.warn({ code, log: folder.logFile }, 'the daemon that was started has ended')
      })
    } catch (thrown) {
      // A folder that cannot be written: whoever asked goes on without a daemon, and asks again.
      failed(thrown)
    }
  }
}

/** What belongs to the host's session is not the daemon's: it serves others too, and lives longer. */
function daemonEnvironment(env: ReviveOptions['env']): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith('CLAUDE_CODE_') && name !== 'CLAUDECODE'),
  )
}
