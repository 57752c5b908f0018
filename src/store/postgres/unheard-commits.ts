// Commits whose answer was lost with the connection. Repeating one might send an answer twice; giving it up might lose
// a turn. So the database is asked, as soon as possible, whether the ledger's chain has the head of that commit. Only
// this node writes that row, and no two commits produce the same head. The server's own transaction ids do not serve,
// because a crash may assign a number twice.
import type pg from 'pg'
import type { Cancel, Clock } from '../../contract/index.ts'
import type { ChainHead } from '../verb-context.ts'
import { createClient } from './connection.ts'

/** The server side of a connection. While it exists, its last commit may still succeed. */
export interface Backend {
  readonly pid: number
  readonly since: string
}

export interface UnheardCommits {
  /** Resolves with whether the commit with this chain head succeeded. Throws on `stop`. */
  outcome(backend: Backend, chain: ChainHead): Promise<boolean>
  stop(): void
}

export async function backendOf(client: pg.Client): Promise<Backend> {
  const { rows } = await client.query(
    `SELECT pid, CAST(backend_start AS TEXT) AS since FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  return rows[0] as Backend
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

  /** Undefined: the server is unavailable, or has not yet noticed that the connection is gone. */
  const ask = async ({ pid, since }: Backend, chain: ChainHead): Promise<boolean | undefined> => {
    const client = createClient(url)
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rowCount: ended } = await client.query({
        text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE pid = $1 AND backend_start = CAST($2 AS TIMESTAMPTZ)`,
        values: [pid, since],
      })
      if (ended !== 0) return undefined
      const { rows } = await client.query({
        text: 'SELECT n, head FROM ledger_chains WHERE id = $1',
        values: [chain.id],
      })
      const found = rows[0] as { n: number; head: string } | undefined
      return found?.n === chain.n && found.head === chain.head
    } catch {
      return undefined
    } finally {
      void client.end().catch(() => undefined)
    }
  }

  return {
    async outcome(backend, chain) {
      for (;;) {
        const held = stopped ? undefined : await ask(backend, chain)
        if (held !== undefined) return held
        if (stopped) throw new Error('nobody waits any more for what came of the commit')
        await wait()
      }
    },
    stop() {
      stopped = true
      for (const wake of [...waking]) wake()
    },
  }
}
