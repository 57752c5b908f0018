// Notes that an agent gets with its next turn about undelivered messages of its session. They cover messages that
// failed, messages with an unknown outcome, and messages that bounced after confirmation. Each is reported once: it is
// marked when a turn was handed over with it. Where nothing failed, turns pay for no lookup.
import {
  type Clock,
  type ContextLine,
  type LaterWordVerbs,
  type Logger,
  opText,
  type SendRow,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'

const QUOTED_CHARS = 200
/** How long the result "nothing failed" is trusted. Another node may learn of a bounce. */
const BELIEVED_MS = 1_000

export interface FailureNotes {
  /** Returns the notes for a session. Never throws, because the turn is more important. */
  of(
    session: string | null,
  ): Promise<{ readonly lines: readonly ContextLine[]; readonly sends: readonly string[] }>
  reported(sends: readonly string[]): Promise<void>
  /** A message failed later, just now and at this node. */
  noticed(): void
}

const NOTHING = { lines: [], sends: [] } as const

export function createFailureNotes(deps: {
  readonly store: LaterWordVerbs
  readonly clock: Clock
  readonly log: Logger
}): FailureNotes {
  const { store, clock, log } = deps
  let noneUntil = 0
  let noticings = 0
  let looking: Promise<boolean> | null = null
  const look = async () => {
    const believed = clock.now() + BELIEVED_MS
    const before = noticings
    const none = (await store.unreportedFailures(null)).length === 0
    // A failure that was noticed during the lookup may be missing from its result.
    if (none && noticings === before) noneUntil = believed
    return none
  }
  /** One lookup serves all callers that ask meanwhile, and they continue in the order of their calls. */
  const isNone = () => {
    const mine =
      looking ??
      look().finally(() => {
        if (looking === mine) looking = null
      })
    looking = mine
    return mine
  }
  return {
    async of(session) {
      const now = clock.now()
      if (session === null || (now < noneUntil && now >= noneUntil - BELIEVED_MS)) return NOTHING
      try {
        if (await isNone()) return NOTHING
        const rows = await store.unreportedFailures(session)
        return { lines: rows.map(lineOf), sends: rows.map(({ id }) => id) }
      } catch (thrown) {
        log.warn({ session, error: String(thrown) }, 'what failed later could not be read')
        return NOTHING
      }
    },
    async reported(sends) {
      if (sends.length === 0) return
      await store
        .markReported(sends)
        .catch((thrown) => log.warn({ error: String(thrown) }, 'what failed later may be told twice'))
    },
    noticed() {
      noneUntil = 0
      noticings += 1
      looking = null
    },
  }
}

function lineOf(row: SendRow): ContextLine {
  const words = row.op === null ? '' : ` It said: "${cut(opText(row.op))}"`
  const why =
    row.detail ?? (row.reason === null ? 'the platform gave no reason' : wordsIn().reasons[row.reason])
  return {
    about: 'delivery',
    speaker: { id: 'switchboard' },
    text: `your ${nounOf(row)} to ${row.to} (${row.id}) ${endOf(row)}: ${why.replace(/\.$/, '')}.${words}`,
    messageId: row.id,
    at: row.updatedAt,
  }
}

function nounOf({ op }: SendRow): string {
  return op?.kind === 'file' ? 'file' : op?.kind === 'prompt' ? 'question' : 'message'
}

function endOf({ state, platformIds }: SendRow): string {
  if (state === 'unknown') return 'may not have arrived'
  return platformIds.length > 0 ? 'was sent and then came back' : 'could not be delivered'
}

function cut(text: string): string {
  const [line = ''] = text.split('\n', 1)
  return line.length <= QUOTED_CHARS ? line : `${[...line.slice(0, QUOTED_CHARS)].slice(0, -1).join('')}…`
}
