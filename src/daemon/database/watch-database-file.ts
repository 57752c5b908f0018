// Compares the database's path with the open handle each second. If they differ, the store refuses writes, and its
// content is copied whole to another file. The copy is retried until it succeeds or the file is back.
import {
  type Cancel,
  type Clock,
  type DatabaseFile,
  type Logger,
  SwitchboardError,
} from '../../contract/index.ts'
import { keepDoing } from '../../core/keep-doing.ts'
import { type Rescued, rescue } from './rescue.ts'

const LOOK_EVERY_MS = 1_000
/** The pause between tries, because a full disk stays full for a while. */
const RESCUE_AGAIN_MS = 10_000

export interface FileWatch {
  /** What happened to the file and where its content is. Null if the file is in place. */
  problem(): string | null
  /** Checks once more and waits for a running copy. Content that is not copied by then is lost with this process. */
  stop(): Promise<void>
}

export function watchDatabaseFile(deps: {
  readonly file: DatabaseFile
  /** The targets of the copy, the best first. */
  readonly places: readonly string[]
  readonly clock: Clock
  readonly log: Logger
}): FileWatch {
  const { file, clock, log } = deps
  let lost: string | null = null
  let rescued: Rescued | null = null
  let failed: string | null = null
  let hopeless = false
  let triedAt = Number.NEGATIVE_INFINITY

  const tryRescue = async () => {
    if (rescued !== null || hopeless || Math.abs(clock.now() - triedAt) < RESCUE_AGAIN_MS) return
    triedAt = clock.now()
    try {
      rescued = await rescue(file, deps.places, clock.now())
      failed = null
      log.error({ rescued: rescued.path, passed: rescued.passed }, 'what the database held was rescued')
    } catch (thrown) {
      failed = thrown instanceof Error ? thrown.message : String(thrown)
      hopeless = thrown instanceof SwitchboardError && thrown.code === 'store_corrupt'
      if (hopeless) log.error({ error: failed }, 'what the database held cannot be rescued')
      else
        log.error(
          { error: failed },
          'what the database held could not be rescued yet: do not end this process',
        )
    }
  }

  let looking: Promise<void> = Promise.resolve()
  const look = () => {
    looking = lookNow()
    return looking
  }

  const lookNow = async () => {
    const found = file.misplaced()
    if (found === null) {
      if (lost !== null)
        log.info({ file: file.path, rescued: rescued?.path }, 'the database is back, and used again')
      lost = null
      rescued = null
      failed = null
      hopeless = false
      triedAt = Number.NEGATIVE_INFINITY
      return
    }
    if (lost !== found)
      log.error({ file: file.path, problem: found }, 'the database was taken away: nothing more is stored')
    lost = found
    await tryRescue()
  }

  const cancel: Cancel = keepDoing(clock, LOOK_EVERY_MS, look, (thrown) =>
    log.error({ error: String(thrown) }, 'the database file could not be looked at'),
  )
  return {
    problem() {
      if (lost === null) return null
      const what = `the database ${file.path} ${lost}: nothing more is stored`
      if (rescued !== null)
        return `${what}; what it held is in ${rescued.path} (stop this daemon, then: switchboard restore ${rescued.path})`
      if (hopeless)
        return `${what}; ${failed} (stop this daemon, then put a backup back: switchboard restore BACKUP --replace)`
      return failed === null
        ? `${what}; what it held is being rescued`
        : `${what}; it could not be rescued yet, do not stop this daemon (${failed})`
    },
    async stop() {
      cancel()
      await looking.catch(() => undefined)
      triedAt = Number.NEGATIVE_INFINITY
      await lookNow().catch((thrown) => log.error({ error: String(thrown) }, 'a last look failed'))
    },
  }
}
