// Informs other nodes about this node's commits, afterwards and on a separate connection. A notification inside a
// commit would make the commits of all nodes wait for each other and for each other's disk. While one is being sent,
// further hints gather. Hints may be lost; then the other nodes learn that they missed some.
import type pg from 'pg'
import type { Cancel, Clock, Hint } from '../../contract/index.ts'
import { addHint } from '../verb-context.ts'
import { createClient } from './connection.ts'
import { HINT_CHANNEL, payloadsOf } from './listener.ts'

export interface Notifier {
  /** Takes the hints of a commit, keyed by their subject. */
  tell(hints: ReadonlyMap<string, Hint>): void
  /** Resolves when pending hints are sent. */
  stop(): Promise<void>
}

const AGAIN_MS = 500
const MOST_WAITING = 10_000
/** The commit is on the disk already, so its hint need not wait for the disk. */
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
  /** Whether another node would hear it. */
  readonly hasOthers: () => boolean
}): Notifier {
  let client: pg.Client | null = null
  let gathered = new Map<string, Hint>()
  let sending: Promise<void> | null = null
  /** Set while the database is unavailable. Hints wait meanwhile, up to a limit. */
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
    // Hints from the same turn of the event loop go along.
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
