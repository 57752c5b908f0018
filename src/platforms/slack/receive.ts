// Receives from Slack by either mode: events, buttons, commands. Each is read in order, waits briefly for the names in
// it, and goes to the intake in order. It is acknowledged after its commit.
import {
  type Clock,
  createSerial,
  type InboundEvent,
  type Logger,
  type PlatformIntake,
  type Received,
} from '../../contract/index.ts'
import { refusalWord } from '../../kit/index.ts'
import type { Names } from './api/names.ts'
import type { Self } from './api/self.ts'
import type { SlackConfig } from './config.ts'
import { parseCommand, parseInteraction, teamOf } from './interactions.ts'
import { type ParseContext, parseEvent, peopleIn, unparsable } from './parse.ts'
import type { Surface } from './surface.ts'

export interface ReceiverDeps {
  readonly config: SlackConfig
  readonly self: () => Promise<Self>
  readonly names: Names
  readonly surface: Surface
  readonly intake: PlatformIntake
  readonly clock: Clock
  readonly log: Logger
  /** The app was removed from the workspace, or its tokens were revoked. */
  readonly expelled: (why: string) => void
  /** Reports the result of a tap to its person. */
  readonly answerTap: (event: Extract<InboundEvent, { kind: 'tap' }>, result: Received) => void
}

export interface Receiver {
  /** Takes the body of an event callback. Resolves after the commit; throws when there was none. */
  event(body: unknown): Promise<void>
  interaction(payload: unknown): Promise<void>
  /** Returns the immediate answer for the person, if there is one. */
  command(fields: unknown): Promise<string | undefined>
}

interface EventBody {
  readonly type?: unknown
  readonly team_id?: unknown
  readonly context_team_id?: unknown
  readonly event?: unknown
  readonly authorizations?: unknown
  readonly minute_rate_limited?: unknown
}

export function createReceiver(deps: ReceiverDeps): Receiver {
  const { config, names, surface, intake, clock, log } = deps
  // Reading is in order. Commits do not wait for each other.
  const inTurn = createSerial()

  const contextFor = (self: Self): ParseContext => ({
    self,
    replyToMode: config.replyToMode,
    nameOf: (user) => names.of(user),
    now: clock.now(),
    contextOf: (conversation, thread) => surface.contextOf(conversation, thread),
  })

  const inOrder = async (
    people: readonly string[],
    parse: (context: ParseContext) => InboundEvent | null,
  ) => {
    const ready = Promise.all([deps.self(), names.find(people)])
    const [self] = await inTurn(() => ready)
    const event = parse(contextFor(self))
    if (event === null) return null
    if (event.kind === 'message') surface.wrote(event.conversation, event.thread, event.text)
    const [result] = await intake.receive([event])
    return { event, result }
  }

  /**
   * Whether it belongs to another workspace. The app needs no check: the link was opened with its own token, or the
   * request was signed with its secret.
   */
  const isForeign = (
    self: Self,
    team: unknown,
    more: { authorizations?: unknown; context?: unknown } = {},
  ) => {
    if (self.teamId === '' || typeof team !== 'string' || team === self.teamId) return false
    // In a shared channel the event names the other workspace, and ours as the receiver.
    const { authorizations, context } = more
    if (!Array.isArray(authorizations)) return context !== self.teamId
    return !authorizations.some(
      (one: { readonly team_id?: unknown; readonly is_enterprise_install?: unknown } | null) =>
        one?.team_id === self.teamId || one?.is_enterprise_install === true,
    )
  }

  return {
    async event(body) {
      const { type, team_id, context_team_id, event, authorizations } = (body ?? {}) as EventBody
      if (type === 'app_rate_limited') {
        log.warn({}, 'Slack holds back events: over 30,000 in an hour')
        return
      }
      const self = await deps.self()
      if (isForeign(self, team_id, { authorizations, context: context_team_id })) {
        log.warn({}, 'an event of another workspace came, and was left')
        return
      }
      const inner = (event ?? {}) as {
        readonly type?: unknown
        readonly user?: unknown
        readonly user_profile?: unknown
      }
      if (inner.type === 'tokens_revoked' || inner.type === 'app_uninstalled')
        return deps.expelled(String(inner.type))
      surface.heard(event)
      learnName(names, inner)
      await inOrder(peopleIn(event), (context) =>
        event === undefined || event === null
          ? unparsable(body, context.now, new Error('there is no event'))
          : parseEvent(event, context),
      )
    },
    async interaction(payload) {
      const self = await deps.self()
      if (isForeign(self, teamOf(payload))) return
      const { user } = (payload ?? {}) as { readonly user?: { readonly id?: unknown } }
      const people = typeof user?.id === 'string' ? [user.id] : []
      const taken = await inOrder(people, (context) => parseInteraction(payload, context))
      if (taken?.event.kind === 'tap' && taken.result) deps.answerTap(taken.event, taken.result)
    },
    async command(fields) {
      const self = await deps.self()
      const given = (typeof fields === 'object' && fields !== null ? fields : {}) as Record<string, unknown>
      if (isForeign(self, teamOf(given))) return undefined
      const people = typeof given.user_id === 'string' ? [given.user_id] : []
      const taken = await inOrder(people, (context) => parseCommand(given, context))
      // Switchboard's answer is sent as a message. A refused sender gets no message, so the reason is given here.
      return taken?.result?.state === 'refused' ? refusalWord(taken.result) : undefined
    },
  }
}

/** An event of a person of another workspace contains the name. */
function learnName(
  names: Names,
  { user, user_profile }: { readonly user?: unknown; readonly user_profile?: unknown },
): void {
  const { display_name, real_name } = (user_profile ?? {}) as Record<string, unknown>
  if (typeof user === 'string') names.learn(user, display_name || real_name)
}
