// OUTLET: every message of an agent, a tool, the operator or Switchboard itself is composed here as rows for its platform.
// Most rows enter the outbox here. Those that belong to another change are written in the commit of that change: the
// answer of a turn (src/core/dispatch), an approval (src/core/approvals), the reply of an intake step. Callers that wait
// for the platform's confirmation wait here, and get its one result.
import {
  type Address,
  type Clock,
  createTokenBuckets,
  integrationById,
  type NewSend,
  type Random,
  type SayOrder,
  type SayResult,
  type SendCause,
  type SendResult,
  type SendRow,
  type Settings,
  type Store,
  SwitchboardError,
} from '../../contract/index.ts'
import { isOneWay, type Link, type Links, textLimitOf } from '../links.ts'
import type { SharedLimits } from '../shared-limits.ts'
import { compose, type Saying, type SplitText } from './compose.ts'
import { oneWayRefusal, resultOf } from './send-result.ts'
import type { SendWaiters } from './send-waiters.ts'

export interface OutletDeps {
  readonly store: Pick<Store, 'enqueue' | 'sayHeld' | 'transcript'>
  /** Limits shared by all nodes; null: there is one node. */
  readonly sharedLimits: SharedLimits | null
  readonly clock: Clock
  readonly random: Random
  readonly settings: () => Settings
  readonly links: Links
  readonly waiters: Pick<SendWaiters, 'wait'>
  readonly split: SplitText
  /** Why an integration is not running, if known. */
  readonly problemOf: (integration: string) => string | undefined
}

export interface Posted {
  readonly result: SendResult
  readonly rows: readonly (SendRow | null)[]
}

export interface Outlet {
  /** Returns the running link of an integration that can send. Throws `execution_failed` when there is none. */
  running(integration: string): Link
  /** Throws `input_invalid` for an address that is known to reach no person. */
  demandSomebody(to: Address): Promise<void>
  /**
   * Returns the outbox rows of a message, one for each part that the platform takes. Throws `input_invalid` for a
   * template where the platform has none.
   */
  rows(saying: Saying): readonly NewSend[]
  /** Puts rows into the outbox and returns their ids in order. */
  put(sends: readonly NewSend[]): Promise<readonly string[]>
  /** Puts a holder's message, in one commit, only while the person holds the place. */
  putHeld(sends: readonly NewSend[], order: SayOrder): Promise<SayResult>
  /** Puts rows and waits a bounded time for the platform's confirmation. Throws `rate_limited`. */
  post(sends: readonly NewSend[], options?: { readonly waitMs?: number }): Promise<Posted>
  /** Waits the same way for rows that were put before. */
  confirmed(ids: readonly string[], waitMs?: number): Promise<Posted>
}

const RECIPIENTS_REMEMBERED = 50_000
/** Messages that an agent sends on its own initiative. */
const LIMITED: readonly SendCause[] = ['send_message', 'notify_user', 'channel_send']

export function createOutlet(deps: OutletDeps): Outlet {
  const { store, clock, settings, links } = deps
  const limits = createTokenBuckets(RECIPIENTS_REMEMBERED, clock)

  /** An agent's loop must not flood a phone. A deduplicated message gives its token back. */
  const underLimit = async (to: Address, send: () => Promise<Posted>): Promise<Posted> => {
    const { recipientLimit } = settings().tunables
    const key = JSON.stringify([to.integration, to.conversation])
    const own = limits.peek(key, recipientLimit)
    const all = own.over ? null : deps.sharedLimits
    const peek = all ? await all.draw(`to:${key}`, recipientLimit) : own
    if (peek.over) {
      const seconds = Math.ceil(peek.retryAfterMs / 1000)
      throw new SwitchboardError(
        'rate_limited',
        `Too many messages to this recipient; try again in ${seconds} s (tunables.recipient_limit)`,
        { retryAfterMs: peek.retryAfterMs },
      )
    }
    limits.take(key, recipientLimit)
    const posted = await send()
    if (posted.result.status === 'deduplicated') {
      limits.giveBack(key, recipientLimit)
      all?.giveBack(`to:${key}`, recipientLimit)
    }
    return posted
  }

  const put: Outlet['put'] = async (sends) =>
    sends.length === 0 ? [] : (await store.enqueue(sends)).map((row) => row.id)

  const confirmed: Outlet['confirmed'] = async (ids, waitMs = settings().tunables.toolWaitMs) => {
    const rows = await Promise.all(ids.map((id) => deps.waiters.wait(id, waitMs)))
    return { result: resultOf(rows), rows }
  }

  return {
    running(integration) {
      const link = links.get(integration)
      if (link && isOneWay(links, integration)) throw oneWayRefusal(integration)
      if (link) return link
      const configured = integrationById(settings(), integration)
      const why =
        configured?.enabled === false
          ? 'it is disabled'
          : (deps.problemOf(integration) ?? 'it is not running')
      throw new SwitchboardError('execution_failed', `Integration "${integration}" cannot send: ${why}`)
    },
    async demandSomebody({ integration, conversation }) {
      const residents = links.get(integration)?.adapter.abilities.residents
      if (residents === undefined || residents.includes(conversation)) return
      if (isNamed(settings(), integration, conversation)) return
      const messages = await store.transcript(integration, { conversation, direction: 'in', limit: 1 })
      if (messages.length > 0) return
      throw new SwitchboardError('input_invalid', `"${conversation}" is nobody at ${integration}`, {
        hint: `address ${residents.join(', ')}, a user of the configuration, or somebody who has written there`,
      })
    },
    rows(saying) {
      const { integration } = saying.to
      const link = links.get(integration)
      if (saying.template !== undefined && link?.adapter.abilities.templates !== true)
        throw new SwitchboardError('input_invalid', `Integration "${integration}" has no templates`)
      const platform = link?.platform ?? integrationById(settings(), integration)?.platform ?? ''
      // A queued message keeps the tool's name. A reload changes it for later messages only.
      const tool = link?.adapter.channel?.outboundTool() ?? null
      const limit = textLimitOf(settings(), links, integration)
      const markdown = link?.adapter.abilities.markdown ?? 'written'
      return compose(saying, { platform, tool, limit, markdown }, deps)
    },
    put,
    putHeld: (sends, order) => store.sayHeld(sends, order),
    confirmed,
    async post(sends, { waitMs } = {}) {
      const [first] = sends
      const send = async () => confirmed(await put(sends), waitMs)
      return first && LIMITED.includes(first.cause) ? underLimit(first.to, send) : send()
    },
  }
}

/** Whether the configuration knows this sender, as a user or by a right. */
function isNamed(settings: Settings, integration: string, sender: string): boolean {
  const isUser = settings.users.some(
    ({ id, identities }) => id === sender || identities.includes(`${integration}:${sender}`),
  )
  const access = integrationById(settings, integration)?.access
  return isUser || (access?.readable === true && [...access.allowFrom, ...access.approvers].includes(sender))
}
