// Limits the mails per hour to one address, also across a restart. The mails of the last hour are read from the
// transcript before anything is sent, so that repeated restarts do not restart a mail loop with another machine.
import { type Clock, defined, type Logger, type Pace, type PlatformDeps } from '../../contract/index.ts'
import { createChatPace } from '../../kit/index.ts'

const HOUR_MS = 3_600_000
const PAGE = 500
/** More than a mailbox may send in an hour. */
const MOST_READ = 20_000
/** How long a mail waits while the transcript is read. */
const READING_MS = 200

export interface AnswerLimit {
  readonly pace: Pace
  /** Reads earlier mails. Never throws: if they cannot be read, this is logged, and counting starts now. */
  recall(): Promise<void>
}

export function createAnswerLimit(
  {
    clock,
    log,
    transcript,
  }: { readonly clock: Clock; readonly log: Logger } & Pick<PlatformDeps, 'transcript'>,
  limits: { readonly perHour: number; readonly perMinute: number },
): AnswerLimit {
  const pace = createChatPace({
    clock,
    intervalMs: 0,
    burst: 1,
    overall: { count: limits.perMinute, perMs: 60_000 },
    windowOf: () => ({ count: limits.perHour, perMs: HOUR_MS }),
  })
  let isRecalled = false

  const sentSince = async (since: number) => {
    const found: { readonly chat: string; readonly at: number }[] = []
    for (let beforeSeq: number | undefined; found.length < MOST_READ; ) {
      const query = {
        direction: 'out',
        limit: PAGE,
        ...defined({ beforeSeq }),
      } as const
      const page = await transcript(query)
      const recent = page.filter(({ at, state }) => at > since && state !== 'queued' && state !== 'failed')
      found.push(...recent.map(({ conversation, at }) => ({ chat: conversation, at })))
      if (page.length < PAGE || page.every(({ at }) => at <= since)) break
      beforeSeq = page[0]?.seq
    }
    return found.toSorted((one, other) => one.at - other.at)
  }

  return {
    pace: {
      take: (chat, side) => (isRecalled ? pace.take(chat, side) : READING_MS),
      giveBack: (chat) => pace.giveBack(chat),
    },
    async recall() {
      if (isRecalled) return
      try {
        for (const { chat, at } of await sentSince(clock.now() - HOUR_MS)) pace.remember(chat, at)
      } catch (thrown) {
        log.warn(
          { problem: String(thrown) },
          'what was sent in the last hour could not be read: it is counted from now',
        )
      }
      isRecalled = true
    },
  }
}
