// Wake-ups from other nodes, over one listening connection that reconnects with backoff. Hints may be lost; sweeps find
// the rest.
//
// A node that starts to listen says hello, and nodes that hear it answer. A node that has heard no other node sends no
// hints, so a single node pays nothing. A later node makes itself known by its hello, and reads the tables when it
// starts.
import type pg from 'pg'
import type { Cancel, Clock, Hint } from '../../contract/index.ts'
import { createClient } from './connection.ts'

export const HINT_CHANNEL = 'switchboard_hint'
/** PostgreSQL accepts less than 8000 bytes per notification. */
const MOST_BYTES = 7_000
const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 10_000
/** A listening connection does not notice that its other end is gone, so it is pinged. */
const PING_EVERY_MS = 5_000
const PING_ANSWER_MS = 3_000
/** Ends of a notification without hints: a hello that wants an answer, and the answer. */
const HELLO = '],"hello":true}'
const HERE = ']}'
const ANSWERED_WITHIN_MS = 1_000

export interface HintListener {
  start(): Promise<void>
  stop(): Promise<void>
  /** Whether a hint may reach another node: one was heard, or none has had time to answer. */
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
  /** Null while this node hears nothing. */
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
      // Notifications from the time without connection are lost.
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

/** Splits hints into as many notifications as needed. */
export function payloadsOf(from: string, hints: readonly Hint[]): readonly string[] {
  const parts: string[][] = []
  let bytes = MOST_BYTES
  for (const hint of hints) {
    const told = JSON.stringify(hint)
    const size = Buffer.byteLength(told) + 1
    // The sweep finds a name that is too long for a notification.
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

/** The sender comes first, so it can be recognised without parsing the rest. */
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
