// The running parts of the gateway (integrations, agents), kept as the configuration wants them: what changed is stopped
// and started, what did not is left alone, and one that cannot start stops nobody else.
import { type Logger, SwitchboardError } from '../contract/index.ts'

export interface Part {
  /** What it was started with: a part is started anew when this changes. */
  readonly digest: string
  /** It asks for its configuration whenever it needs it: a change needs no new start. */
  readonly live?: boolean
  /** Told: why there is nothing to run, though nothing went wrong. */
  start(): Promise<string | undefined>
}

export interface Parts {
  /** Why a part could not be started; told in status and doctor. */
  readonly problems: ReadonlyMap<string, string>
  match(wanted: ReadonlyMap<string, Part>): Promise<void>
  endAll(): Promise<void>
}

export function createParts(deps: {
  readonly log: Logger
  readonly end: (key: string) => Promise<void>
}): Parts {
  const { log } = deps
  const problems = new Map<string, string>()
  const running = new Map<string, string>()

  const begin = async (key: string, { digest, start }: Part) => {
    problems.delete(key)
    running.set(key, digest)
    try {
      const absent = await start()
      if (typeof absent === 'string') problems.set(key, absent)
    } catch (thrown) {
      const problem = thrown instanceof SwitchboardError ? thrown.message : String(thrown)
      problems.set(key, problem)
      log.error({ part: key, problem }, 'could not be started')
    }
  }

  const end = async (key: string, level: 'error' | 'warn' = 'error') => {
    running.delete(key)
    problems.delete(key)
    await deps
      .end(key)
      .catch((thrown) => log[level]({ part: key, error: String(thrown) }, 'did not stop cleanly'))
  }

  return {
    problems,
    async match(wanted) {
      for (const [key, digest] of [...running]) {
        const next = wanted.get(key)
        // What could not start is tried again: what it lacked may be there by now.
        if (problems.has(key)) await end(key)
        else if (next?.live) running.set(key, next.digest)
        else if (next?.digest !== digest) await end(key)
      }
      for (const [key, part] of wanted) if (!running.has(key)) await begin(key, part)
    },
    async endAll() {
      for (const key of [...running.keys()]) await end(key, 'warn')
    },
  }
}
