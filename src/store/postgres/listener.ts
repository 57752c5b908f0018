// Wake-ups from other nodes: one connection that listens, renewed with backoff. Lossy by design; sweeps find the rest.
//
// Whoever begins to listen says hello, and whoever hears that answers. A node that has heard nobody tells nobody: alone at a
// database it spends nothing on hints. Who comes later is heard by its hello, and looks through the tables when it starts.
import type pg from 'pg'
import type { Cancel, Clock, Hint } from '../../contract/index.ts'
import { createClient } from './connection.ts'

export const HINT_CHANNEL = 'switchboard_hint'
/** PostgreSQL takes less than 8000 bytes per notification. */
const MOST_BYTES = 7_000
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000
/** A connection that only listens does not notice that its other end is gone: it is asked. */
const PING_EVERY_MS = 5_000
const PING_ANSWER_MS = 3_000
/** Ends of a notification without hints: one that wants to be answered, and the answer. */
const HELLO = '],"hello":true}'
const HERE = ']}'
const ANSWERED_WITHIN_MS = 1_000

export interface HintListener {
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether a hint may wake somebody: another node was heard, or none has had the time to answer. */
  hasOthers(): boolean
}

export function createHintListener(options: {
  readonly url: string
  readonly clock: Clock
  readonly self: string
  readonly tell: (hint: Hint, from: string | null) => void
}): HintListener {
  const { url, clock, self, tell } = options
  const own = beginning(self)
  let client: pg.Client | null = null
  let cancel: Cancel = () => undefined
  let waitMs = FIRST_WAIT_MS
  let stopped = false
  let wasHeard = false
  let others = false
  /** Null while nothing can be heard. */
  let askedAt: number | null = null

  const retry = (): void => {
    if (stopped) return
    cancel()
    cancel = clock.after(waitMs, () => void connect())
    waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)
  }
  const lost = (gone: pg.Client): void => {
    if (client !== gone) return
    client = null
    askedAt = null
    void gone.end().catch(() => undefined)
    retry()
  }
  const ping = async (on: pg.Client): Promise<void> => {
    const question: pg.QueryConfig & { query_timeout: number } = {
      text: 'SELECT 1',
      query_timeout: PING_ANSWER_MS,
    }
    try {
      await on.query(question)
      if (client === on && !stopped) cancel = clock.after(PING_EVERY_MS, () => void ping(on))
    } catch {
      lost(on)
    }
  }
  const say = (on: pg.Client, word: string) =>
    on.query(`NOTIFY ${HINT_CHANNEL}, ${on.escapeLiteral(`${own}${word}`)}`)
  const connect = async (): Promise<void> => {
    const fresh = createClient(url)
    fresh.on('error', () => lost(fresh))
    fresh.on('notification', ({ payload }) => {
      if (payload === undefined || payload.startsWith(own)) return
      const told = parsePayload(payload)
      if (!told || told.from === self) return
      others = true
      if (told.hello === true) say(fresh, HERE).catch(() => lost(fresh))
      for (const hint of told.hints) tell(hint, told.from)
    })
    try {
      await fresh.connect()
      await fresh.query(`LISTEN ${HINT_CHANNEL}`)
      await say(fresh, HELLO)
      if (stopped) return void (await fresh.end())
      client = fresh
      askedAt = clock.now()
      waitMs = FIRST_WAIT_MS
      cancel = clock.after(PING_EVERY_MS, () => void ping(fresh))
      // Whatever was said meanwhile was not heard here.
      if (wasHeard) tell({ kind: 'missed' }, null)
      wasHeard = true
    } catch {
      await fresh.end().catch(() => undefined)
      retry()
    }
  }
  return {
    start: connect,
    hasOthers: () => others || askedAt === null || clock.now() - askedAt < ANSWERED_WITHIN_MS,
    async stop() {
      stopped = true
      cancel()
      await client?.end().catch(() => undefined)
    },
  }
}

/** As many notifications as it takes. */
export function payloadsOf(from: string, hints: readonly Hint[]): readonly string[] {
  const parts: string[][] = []
  let bytes = MOST_BYTES
  for (const hint of hints) {
    const told = JSON.stringify(hint)
    const size = Buffer.byteLength(told) + 1
    // A name too long for a notification is found by the sweep.
    if (size > MOST_BYTES) continue
    if (bytes + size > MOST_BYTES) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)?.push(told)
    bytes += size
  }
  return parts.map((part) => `${beginning(from)}${part.join(',')}]}`)
}

/** Whose it is can be told without reading the rest. */
function beginning(from: string): string {
  return `{"from":${JSON.stringify(from)},"hints":[`
}

interface Told {
  readonly from: string
  readonly hints: readonly Hint[]
  readonly hello?: boolean
}

function parsePayload(payload: string): Told | null {
  try {
    return JSON.parse(payload) as Told
  } catch {
    return null
  }
}
