// notify_on: the owner is notified when a turn ends that no person started. The rows go into the commit that ends the
// turn, so neither exists without the other.
import {
  agentById,
  asSwitchboardError,
  type Logger,
  type NewNotification,
  type NewSend,
  type ReasonCode,
  SCHEDULE_PLACE,
  type Settings,
  type Store,
  type TurnRow,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Links } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import { usable } from '../people/targets.ts'
import { LOCAL_USER } from '../people/users.ts'
import type { Outlet } from './outlet.ts'
import { resolveRecipient } from './recipients.ts'

export interface TurnEnd {
  readonly to: 'answered' | 'failed' | 'expired'
  /** The agent's final text, if known. */
  readonly text?: string
  readonly reason?: ReasonCode
  readonly detail?: string
}

export interface NotifyOnDeps {
  readonly store: Pick<Store, 'logNotification'>
  readonly log: Logger
  readonly settings: () => Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
  readonly outlet: Pick<Outlet, 'rows'>
}

export type NotifyOn = (row: TurnRow, end: TurnEnd) => readonly NewSend[]

export function createNotifyOn(deps: NotifyOnDeps): NotifyOn {
  const { settings } = deps

  const sendsFor = (row: TurnRow, text: string): readonly NewSend[] => {
    const to = resolveRecipient(deps, { user: null, channel: undefined })
    usable(settings(), to.integration, row.agent)
    return deps.outlet.rows({
      to: to.to,
      text,
      cause: 'notify_user',
      agent: row.agent,
      session: row.session,
      turn: row.id,
      urgency: 'normal',
      idempotencyKey: `notify_on:${row.id}:${row.attempts}`,
      notification: { ...notifyOnEntry(row, text), user: to.user, channel: to.channel },
    })
  }

  const notSent = (row: TurnRow, text: string, error: string, status: 'failed' | 'not_sent') => {
    deps.store
      .logNotification({ ...notifyOnEntry(row, text), status, error })
      .catch((thrown) =>
        deps.log.warn({ turn: row.id, error: String(thrown) }, 'not in the notification log'),
      )
  }

  /** No person waits in a chat for the answer. */
  const startedByNobody = (integration: string): boolean =>
    integration === SCHEDULE_PLACE || deps.links.get(integration)?.adapter.abilities.unattended === true

  return (row, end) => {
    const notifyOn = agentById(settings(), row.agent ?? '')?.notifyOn ?? 'none'
    if (!startedByNobody(row.integration)) return []
    const wanted = end.to === 'answered' ? 'completion' : 'failure'
    const text = end.to === 'answered' ? (end.text ?? '') : failureText(row, end)
    if (text === '') return []
    if (notifyOn !== 'both' && notifyOn !== wanted) {
      // A schedule has no chat of its own. The log keeps the agent's text.
      if (row.integration === SCHEDULE_PLACE) notSent(row, text, `notify_on is ${notifyOn}`, 'not_sent')
      return []
    }
    try {
      return sendsFor(row, text)
    } catch (thrown) {
      notSent(row, text, asSwitchboardError(thrown).message, 'failed')
      return []
    }
  }
}

function failureText(row: TurnRow, end: TurnEnd): string {
  const { agent, source } = row
  const { to, reason, detail } = end
  return wordsIn().notices.turnFailed({ agent, source, to, reason, detail })
}

/** The entry in the notification log: its owner and its text. */
export function notifyOnEntry(row: Pick<TurnRow, 'agent' | 'session'>, text: string): NewNotification {
  return {
    user: LOCAL_USER,
    agent: row.agent,
    session: row.session,
    channel: 'none',
    message: text,
    urgency: 'normal',
    source: 'notify_on',
  }
}
