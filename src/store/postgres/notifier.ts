// Tells the other nodes what the commits of this one did, behind them and on a connection of its own: a notification
// within a commit makes the commits of all nodes wait for each other, and for each other's disk. While one is on its way,
// the hints of the next gather. Lossy by design; where some were lost, the others are told that they missed something.
import type pg from 'pg'
import type { Cancel, Clock, Hint } from '../../contract/index.ts'
import { addHint } from '../verb-context.ts'
import { createClient } from './connection.ts'
import { HINT_CHANNEL, payloadsOf } from './listener.ts'

export interface Notifier {
  /** By what they are about, as a commit leaves them. */
  tell(hints: ReadonlyMap<string, Hint>): void
  /** What was told is on its way. */
  stop(): Promise<void>
}

const AGAIN_MS = 500
const MOST_WAITING = 10_000
/** Nobody waits for the disk: a hint of a commit that the disk has. */
const SESSION = 'SET synchronous_commit = off'
const NOTIFY = {
  name: 'notify',
  text: `SELECT pg_notify('${HINT_CHANNEL}', payload) FROM unnest($1::text[]) AS payload`,
}

export function createNotifier({
  url,
  clock,
  self,
  hasOthers,
}: {
  readonly url: string
  readonly clock: Clock
  readonly self: string
  /** Whether anybody would hear it. */
  readonly hasOthers: () => boolean
}): Notifier {
  let client: pg.Client | null = null
  let gathered = new Map<string, Hint>()
  let sending: Promise<void> | null = null
  /** Set while the database is away: what is told meanwhile waits, as far as there is room. */
  let again: Cancel | null = null
  let stopped = false

  const drop = (gone: pg.Client) => {
    if (client === gone) client = null
    void gone.end().catch(() => undefined)
  }

  const connected = async (): Promise<pg.Client> => {
    if (client) return client
    const fresh = createClient(url)
    fresh.on('error', () => drop(fresh))
    try {
      await fresh.connect()
      await fresh.query(SESSION)
    } catch (thrown) {
      drop(fresh)
      throw thrown
    }
    client = fresh
    return fresh
  }

  const send = async (hints: readonly Hint[]): Promise<void> => {
    try {
      const on = await connected()
      await on.query({ ...NOTIFY, values: [payloadsOf(self, hints)] })
    } catch {
      if (client) drop(client)
      if (!stopped) again = clock.after(AGAIN_MS, comeBack)
    }
  }

  const comeBack = () => {
    again = null
    gathered = new Map([['missed', { kind: 'missed' }], ...gathered])
    sending ??= sendAll()
  }

  const sendAll = async (): Promise<void> => {
    // What the same turn of the loop tells goes along.
    await new Promise<void>((resolve) => setImmediate(resolve))
    while (gathered.size > 0 && !again) {
      const hints = [...gathered.values()]
      gathered = new Map()
      await send(hints)
    }
    sending = null
  }

  return {
    tell(hints) {
      if (stopped || !hasOthers()) return
      for (const [key, hint] of hints) if (gathered.size < MOST_WAITING) addHint(gathered, key, hint)
      if (gathered.size > 0 && !again) sending ??= sendAll()
    },
    async stop() {
      stopped = true
      again?.()
      await sending
      await client?.end().catch(() => undefined)
      client = null
    },
  }
}
