// Starts a daemon that outlives whoever asked for it. Two who ask at once start two, and the kernel's lock on the data
// folder lets one of them live.
import { readLastRun } from '../../config/instance/last-run.ts'
import { asSwitchboardError, type Clock, type Logger } from '../../contract/index.ts'
import { unknownFile } from './own-daemon.ts'
import { lastWords, type SpawnOptions, spawnDaemon } from './spawn-daemon.ts'

const AGAIN_MS = 3_000
const SLOWER_MS = 30_000
const IDLE_EXIT = '10m'

export interface Reviver {
  /** Starts a daemon, unless one is being started or the last one was stopped by its operator. */
  revive(): void
  /** Why there is none; null: nothing is known to be wrong. */
  problem(): string | null
}

/** May be called as often as wanted: one start is under way at a time, and one that keeps failing is tried less often. */
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
    // Where the one before it listened: whoever knew that place finds the next one there.
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

function lastWordsText(words: ReturnType<typeof lastWords>): string | null {
  if (words === null) return null
  return `${words.text}${words.hint === null ? '' : ` (${words.hint})`}`
}
