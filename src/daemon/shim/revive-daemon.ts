// Starts a daemon that outlives its caller. Two callers at once start two daemons, and the kernel's lock on the data
// folder keeps one of them.
import { readLastRun } from '../../config/instance/last-run.ts'
import { asSwitchboardError, type Clock, type Logger } from '../../contract/index.ts'
import { unknownFile } from './own-daemon.ts'
import { lastWords, type SpawnOptions, spawnDaemon } from './spawn-daemon.ts'

const AGAIN_MS = 3_000
const SLOWER_MS = 30_000
const IDLE_EXIT = '10m'

export interface Reviver {
  /** Starts a daemon, unless a start is in progress or the operator stopped the last one. */
  revive(): void
  /** Why there is no daemon. Null if no problem is known. */
  problem(): string | null
}

/** May be called any number of times. Starts run one at a time, and repeated failures lengthen the pause. */
export function createReviver(
  options: SpawnOptions,
  deps: { readonly clock: Clock; readonly log: Logger },
): Reviver {
  const { folder } = options
  let why: string | null = null
  let notBefore = 0
  let failures = 0
  let running = false

  const start = (failed: (thrown: unknown) => void, ended: (code: number | null) => void) => {
    // The new daemon listens where the last one did, so that its clients find it.
    const life = readLastRun(folder)
    const place = life ? ['--host', life.host, '--port', String(life.port)] : []
    const child = spawnDaemon(options, ['--idle-exit', IDLE_EXIT, ...place])
    child.once('error', failed)
    child.once('exit', ended)
  }

  const stopped = () => readLastRun(folder)?.end === 'stopped'

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
        why = code === 0 ? null : lastWordsText(lastWords(folder.logFile))
        failures = deps.clock.now() - now < SLOWER_MS ? failures + 1 : 0
        // The loser of two starts also ends with 1. The log in the folder has the details.
        deps.log.warn({ code, log: folder.logFile }, 'the daemon that was started has ended')
      })
    } catch (thrown) {
      // The folder may not be writable. The caller goes on without a daemon, and tries again later.
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

function lastWordsText(words: ReturnType<typeof lastWords>): string | null {
  if (words === null) return null
  return `${words.text}${words.hint === null ? '' : ` (${words.hint})`}`
}
