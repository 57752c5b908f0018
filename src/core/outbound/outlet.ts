// OUTLET: the one door out. Tools, notifications, replies by tool and the operator's orders all go through here, in one
// order: input valid, agent known, target allowed, integration exists, is enabled and granted, idempotency key, same
// content a moment ago, outbox. The last three are one commit of the store.
import {
  type Address,
  address,
  type Clock,
  createTokenBuckets,
  integrationById,
  type NewSend,
  parseAddress,
  type Random,
  type SendResult,
  type Settings,
  type Store,
  SwitchboardError,
  type TextLimit,
  type ToolCaller,
} from '../../contract/index.ts'
import type { SharedLimits } from '../shared-limits.ts'
import { compose, type Saying, type SplitText } from './compose.ts'
import { type Link, type Links, textLimitOf } from './links.ts'
import { resultOf } from './send-result.ts'
import type { Sender } from './sender.ts'
import { allowedTargets, chooseIntegration, denial, isAllowedTarget } from './targets.ts'

export interface OutletDeps {
  readonly store: Store
  /** Limits that all nodes share; null: there is one. */
  readonly sharedLimits: SharedLimits | null
  readonly clock: Clock
  readonly random: Random
  readonly settings: () => Settings
  readonly links: Links
  readonly sender: Pick<Sender, 'settled'>
  readonly split: SplitText
  /** Why an integration is not running, if it is known. */
  readonly problemOf: (integration: string) => string | undefined
}

export interface MessageOrder {
  readonly platform: string
  readonly target: string
  readonly body: string
  readonly thread?: string
  readonly integration?: string
}

export interface Outlet {
  /** Checks an agent's wish and sends it. Throws what the caller did wrong; what the platform did is in the result. */
  sendMessage(caller: ToolCaller, order: MessageOrder): Promise<SendResult>
  /** Sends what was checked before: to the outbox, then waits a bounded time for the confirmation. */
  post(saying: Omit<Saying, 'platform'>, waitMs?: number): Promise<SendResult>
  /** The same for what is no text: a call of a channel server's tool. */
  run(send: Omit<NewSend, 'platform'>): Promise<SendResult>
  /** The running link of an integration. Throws `execution_failed` when there is none. */
  running(integration: string): Link
  /** Longest text of one message there. */
  limitOf(link: Link): TextLimit
}

const RECIPIENTS_REMEMBERED = 50_000

export function createOutlet(deps: OutletDeps): Outlet {
  const { store, clock, settings, links } = deps
  const limits = createTokenBuckets(RECIPIENTS_REMEMBERED, clock)

  const running = (integration: string): Link => {
    const link = links.get(integration)
    if (link) return link
    const known = integrationById(settings(), integration)
    const why =
      known?.enabled === false ? 'it is disabled' : (deps.problemOf(integration) ?? 'it is not running')
    throw new SwitchboardError('execution_failed', `Integration "${integration}" cannot send: ${why}`)
  }

  const limitOf = (link: Link): TextLimit => textLimitOf(settings(), links, link.integration)

  /** A loop of an agent must not flood a phone. What was not sent gives its token back. */
  const underLimit = async (to: Address, send: () => Promise<SendResult>): Promise<SendResult> => {
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
    const result = await send()
    if (result.status === 'deduplicated') {
      limits.giveBack(key, recipientLimit)
      all?.giveBack(`to:${key}`, recipientLimit)
    }
    return result
  }

  const enqueue = async (
    saying: Omit<Saying, 'platform'>,
    link: Link,
    waitMs: number | undefined,
  ): Promise<SendResult> => {
    return settled(compose({ ...saying, platform: link.platform }, limitOf(link), deps), waitMs)
  }

  const settled = async (sends: readonly NewSend[], waitMs?: number): Promise<SendResult> => {
    const queued = await store.enqueue(sends)
    const patienceMs = waitMs ?? settings().tunables.toolWaitMs
    return resultOf(await Promise.all(queued.map((one) => deps.sender.settled(one.id, patienceMs))))
  }

  const post: Outlet['post'] = async (saying, waitMs) => {
    const link = running(saying.to.integration)
    const limited = saying.cause === 'send_message' || saying.cause === 'notify_user'
    return limited
      ? underLimit(saying.to, () => enqueue(saying, link, waitMs))
      : enqueue(saying, link, waitMs)
  }

  /** The integration that the caller's turn, or its session, came from. */
  const ownIntegration = async (caller: ToolCaller): Promise<string | null> => {
    const turn = caller.turn === null ? null : await store.turn(caller.turn)
    if (turn?.agent === caller.agent) return turn.integration
    const session = caller.session === null ? null : await store.session(caller.session)
    return session?.agent === caller.agent ? parseAddress(session.address).integration : null
  }

  /** At a hosted server a target has the name that it spoke under, if it ever did. */
  const placeOf = async (integration: string, target: string, thread?: string): Promise<Address> => {
    const server = links.get(integration)?.adapter.channel
    if (!server) return address(integration, target, thread)
    const places = server.placesOf(target)
    let place = places.at(-1) ?? target
    for (const conversation of places) {
      const said = await store.transcript(integration, { conversation, direction: 'in', limit: 1 })
      if (said.length === 0) continue
      place = conversation
      break
    }
    return address(integration, place, thread === undefined ? undefined : server.threadOf(thread))
  }

  return {
    running,
    limitOf,
    post,
    async run(send) {
      const { platform } = running(send.to.integration)
      return underLimit(send.to, () => settled([{ ...send, platform }]))
    },
    async sendMessage(caller, order) {
      const { platform, target, body, thread } = order
      if (!isText(platform) || !isText(target) || !isText(body)) {
        throw new SwitchboardError('input_invalid', 'platform, target, and body are required')
      }
      const { maxBodyBytes } = settings().tunables
      if (Buffer.byteLength(body) > maxBodyBytes) {
        throw new SwitchboardError('input_invalid', `body is larger than ${maxBodyBytes} bytes`)
      }
      const entries = allowedTargets(settings(), caller.agent)
      if (!isAllowedTarget(entries, platform, target)) throw denial(entries, platform, target)
      const { id } = chooseIntegration(settings(), {
        platform,
        agent: caller.agent,
        named: order.integration,
        own: await ownIntegration(caller),
      })
      return post({
        to: await placeOf(id, target, thread),
        text: body,
        cause: 'send_message',
        agent: caller.agent,
        session: caller.session,
        turn: caller.turn,
        dedup: true,
        ...(caller.idempotencyKey === null ? {} : { idempotencyKey: caller.idempotencyKey }),
      })
    },
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
