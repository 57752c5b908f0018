// notify_user: notifies the owner of the session. Every attempt is in the notification log, even a failed one.
import {
  asSwitchboardError,
  type Choice,
  type ClaimOffer,
  defined,
  formatAddress,
  type NewNotification,
  type SendResult,
  type Settings,
  type StoreBesideOutlet,
  SwitchboardError,
  type Urgency,
  withoutNulls,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import { claimChoices } from '../claims.ts'
import type { Links } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import { usable } from '../people/targets.ts'
import { LOCAL_USER } from '../people/users.ts'
import type { Outlet } from './outlet.ts'
import { type Recipient, resolveRecipient } from './recipients.ts'
import { notificationText, refusedResult } from './send-result.ts'

export interface NotifyDeps {
  readonly store: StoreBesideOutlet
  readonly settings: () => Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
  readonly outlet: Outlet
}

/** The caller, from the credential and never from arguments. An operator has neither agent nor session. */
export interface NotifyCaller {
  readonly agent: string | null
  readonly session: string | null
  readonly user: string | null
  readonly turn: string | null
  readonly idempotencyKey: string | null
}

export interface NotifyOrder {
  readonly message: string
  readonly channel?: string
  readonly urgency?: Urgency
  readonly claimThread?: boolean
  readonly claimThreadLabel?: string
}

export interface Notified {
  readonly result: SendResult
  readonly channel: string
  /** The notified address; null: none was found. */
  readonly to: string | null
  /** The text for the caller. */
  readonly text: string
}

export interface Notifier {
  notify(caller: NotifyCaller, order: NotifyOrder): Promise<Notified>
}

export function createNotifier(deps: NotifyDeps): Notifier {
  const { store, settings, outlet } = deps

  const send = async (caller: NotifyCaller, order: NotifyOrder, to: Recipient): Promise<SendResult> => {
    usable(settings(), to.integration, caller.agent)
    const { adapter } = outlet.running(to.integration.id)
    await outlet.demandSomebody(to.to)
    const claim = order.claimThread === true ? await offerOf(caller, order) : null
    let choices: readonly Choice[] | undefined
    if (claim) {
      const { buttons, replies } = adapter.abilities
      if (!buttons && replies !== true) {
        throw new SwitchboardError(
          'execution_failed',
          `${to.channel} has neither buttons nor replies, so claim_thread cannot work there`,
        )
      }
      if (buttons) choices = claimChoices(wordsIn())
    }
    const rows = outlet.rows({
      to: to.to,
      text: order.message,
      cause: 'notify_user',
      agent: caller.agent,
      session: caller.session,
      turn: caller.turn,
      urgency: order.urgency ?? 'normal',
      dedup: true,
      notification: entryOf(caller, order, to),
      ...defined({ choices, claim: claim ?? undefined }),
      ...withoutNulls({ idempotencyKey: caller.idempotencyKey }),
    })
    return (await outlet.post(rows)).result
  }

  /** The session comes from the credential, so an agent can claim only for its own session. */
  const offerOf = async (caller: NotifyCaller, order: NotifyOrder): Promise<ClaimOffer> => {
    if (caller.session === null || caller.agent === null) {
      throw new SwitchboardError('execution_failed', 'claim_thread needs a token that carries a session')
    }
    const session = await store.session(caller.session)
    if (session?.agent !== caller.agent) {
      throw new SwitchboardError(
        'execution_failed',
        `claim_thread: agent "${caller.agent}" has no session ${caller.session}`,
      )
    }
    return { session: session.id, agent: caller.agent, label: order.claimThreadLabel ?? caller.agent }
  }

  return {
    async notify(caller, order) {
      let recipient: Recipient | null = null
      try {
        if (order.message.trim() === '')
          throw new SwitchboardError('input_invalid', 'Missing required parameter: message')
        recipient = resolveRecipient(deps, { user: caller.user, channel: order.channel })
        const result = await send(caller, order, recipient)
        const { channel } = recipient
        return { result, channel, to: toOf(recipient), text: notificationText(result, channel) }
      } catch (thrown) {
        const error = asSwitchboardError(thrown)
        if (error.code === 'internal' || error.code === 'store_unavailable') throw error
        const entry = entryOf(caller, order, recipient)
        await store.logNotification({ ...entry, status: 'failed', error: error.message })
        return {
          result: refusedResult(error),
          channel: entry.channel,
          text: error.message,
          to: recipient === null ? null : toOf(recipient),
        }
      }
    },
  }
}

function toOf({ to }: Recipient): string {
  return formatAddress(to)
}

function entryOf(caller: NotifyCaller, order: NotifyOrder, to: Recipient | null): NewNotification {
  return {
    user: to?.user ?? caller.user ?? LOCAL_USER,
    agent: caller.agent,
    session: caller.session,
    channel: to?.channel ?? order.channel ?? 'none',
    message: order.message,
    urgency: order.urgency ?? 'normal',
    source: caller.agent === null ? 'operator' : 'agent',
  }
}
