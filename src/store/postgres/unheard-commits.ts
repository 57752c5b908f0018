// Commits whose answer was lost with the connection. Done again, an answer would be said twice; given up, a turn would be
// handed to nobody. So the server is asked, as soon as it can be: it remembers of each transaction what came of it.
import type { Cancel, Clock } from '../../contract/index.ts'
import { createClient } from './connection.ts'

export interface UnheardCommits {
  /** Resolves with whether the transaction holds. Throws when it cannot be known any more, or on `stop`. */
  outcome(xact: string): Promise<boolean>
  stop(): void
}

const ASK_EVERY_MS = 250

export function createUnheardCommits(url: string, clock: Clock): UnheardCommits {
  let stopped = false
  const waking = new Set<() => void>()

  const wait = () =>
    new Promise<void>((resolve) => {
      let cancel: Cancel = () => undefined
      const done = () => {
        cancel()
        waking.delete(done)
        resolve()
      }
      cancel = clock.after(ASK_EVERY_MS, done)
      waking.add(done)
    })

  /** Undefined: the server is away, or has not noticed yet that the connection is gone. */
  const ask = async (xact: string): Promise<boolean | undefined> => {
    const client = createClient(url)
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query({
        text: 'SELECT pg_xact_status($1::xid8) AS status',
        values: [xact],
      })
      const { status } = rows[0] as { status: string | null }
      if (status === null) throw new Forgotten()
      return status === 'committed' ? true : status === 'aborted' ? false : undefined
    } catch (thrown) {
      if (thrown instanceof Forgotten) throw thrown
      return undefined
    } finally {
      void client.end().catch(() => undefined)
    }
  }

  return {
    async outcome(xact) {
      for (;;) {
        const held = stopped ? undefined : await ask(xact)
        if (held !== undefined) return held
        if (stopped) throw new Forgotten()
        await wait()
      }
    },
    stop() {
      stopped = true
      for (const wake of [...waking]) wake()
    },
  }
}

class Forgotten extends Error {
  constructor() {
    super('nobody knows what came of the transaction')
  }
}
