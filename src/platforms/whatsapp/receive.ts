// Receives a verified post: one commit for all of it, and then the 200. A post that is not stored in time gets no 200
// and comes again for up to seven days. Messages that were stored before are recognised by their ids.
import type {
  Clock,
  HttpReply,
  InboundEvent,
  Logger,
  PlatformIntake,
  VerifiedRequest,
} from '../../contract/index.ts'
import { type ParseContext, type Parsed, parsePost } from './parse.ts'
import type { Presence } from './presence.ts'
import type { Statuses } from './statuses.ts'
import type { Windows } from './window.ts'

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
const OK: HttpReply = { status: 200, headers: JSON_TYPE, body: '{"ok":true}' }
const LATE: HttpReply = { status: 503, headers: JSON_TYPE, body: '{"ok":false,"error":"not stored in time"}' }

export interface ReceiverDeps {
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly log: Logger
  readonly answerMs: number
  readonly context: () => ParseContext
  readonly statuses: Statuses
  readonly windows: Windows
  readonly presence: Presence
  /** A post for another number came here. */
  readonly elsewhere: (phoneNumberId: string) => void
}

export type Receiver = (verified: VerifiedRequest) => Promise<HttpReply>

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { intake, clock, log } = deps

  const eventOf = async (one: Parsed): Promise<InboundEvent | null> => {
    switch (one.kind) {
      case 'status':
        return deps.statuses.reportOf(one.status)
      case 'event':
        return one.event
      case 'aside':
        log.info({ about: one.about.slice(0, 300) }, 'WhatsApp told something that nobody said')
        return one.event
      case 'elsewhere':
        deps.elsewhere(one.phoneNumberId)
        return null
    }
  }

  const take = async (parsed: readonly Parsed[]) => {
    const events: InboundEvent[] = []
    const statuses = []
    for (const one of parsed) {
      const event = await eventOf(one)
      if (event === null) continue
      events.push(event)
      if (one.kind === 'status') statuses.push(one.status)
    }
    const received = events.length === 0 ? [] : await intake.receive(events)
    for (const status of statuses) deps.statuses.heard(status)
    for (const [at, event] of events.entries()) {
      if (event.kind === 'unparsable' || event.kind === 'filtered' || event.kind === 'report') continue
      if (event.chat === 'direct') deps.windows.heard(event.conversation, event.at)
      if (event.kind === 'message' && event.messageId && received[at]?.state !== 'refused')
        deps.presence.heard(event.conversation, event.messageId)
    }
  }

  return ({ request }) => {
    const parsed = parsePost(bodyOf(request.body), deps.context())
    return new Promise((resolve, reject) => {
      const cancel = clock.after(deps.answerMs, () => resolve(LATE))
      take(parsed)
        .then(() => resolve(OK), reject)
        .finally(cancel)
    })
  }
}

/** Invalid JSON is recorded and answered with 200, because it would only come again. */
function bodyOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'))
  } catch {
    return null
  }
}
