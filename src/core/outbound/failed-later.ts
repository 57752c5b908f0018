// Messages for the case that a sent message turns out to have failed. The owner gets one if the agent's notify_on asks
// for failures. The agent gets a note with its next turn (core/dispatch/failure-notes.ts).
import {
  agentById,
  asSwitchboardError,
  type InboundReport,
  type Logger,
  type NewSend,
  type SendCause,
  type SendRow,
  type Settings,
  type Store,
} from '../../contract/index.ts'
import { wordsIn } from '../../words/index.ts'
import type { Links } from '../links.ts'
import type { GrantList } from '../people/approvers.ts'
import { usable } from '../people/targets.ts'
import { notifyOnEntry } from './notify-on.ts'
import type { Outlet } from './outlet.ts'
import { resolveRecipient } from './recipients.ts'

export interface FailedLater {
  /**
   * Returns rows for the commit that marks the send as failed; empty unless the configuration asks for them. Never
   * throws for an unusable recipient.
   */
  words(integration: string, report: InboundReport): Promise<readonly NewSend[]>
  /** Called after that commit. */
  noticed(): void
}

export interface FailedLaterDeps {
  readonly store: Pick<Store, 'send' | 'logNotification'>
  readonly log: Logger
  readonly settings: () => Settings
  readonly grants: GrantList
  readonly links: Pick<Links, 'get'>
  readonly outlet: Pick<Outlet, 'rows'>
  readonly noticed: () => void
}

/** A failed notification causes no further notification, to avoid an endless loop. */
const UNTOLD: readonly SendCause[] = ['notify_user', 'notice', 'pairing', 'prompt']

export function createFailedLater(deps: FailedLaterDeps): FailedLater {
  const rowsFor = (row: SendRow, text: string): readonly NewSend[] => {
    const to = resolveRecipient(deps, { user: null, channel: undefined })
    // A message to the place that failed would not arrive either.
    if (to.integration.id === row.integration && to.to.conversation === row.conversation) return []
    usable(deps.settings(), to.integration, row.agent)
    return deps.outlet.rows({
      to: to.to,
      text,
      cause: 'notify_user',
      agent: row.agent,
      session: row.session,
      turn: null,
      urgency: 'normal',
      idempotencyKey: `failed_later:${row.id}`,
      notification: { ...notifyOnEntry(row, text), user: to.user, channel: to.channel },
    })
  }

  return {
    noticed: deps.noticed,
    async words(integration, { outcome, send, detail }) {
      if (outcome !== 'failed') return []
      const row = await deps.store.send(send)
      if (!row || row.integration !== integration || row.agent === null || UNTOLD.includes(row.cause))
        return []
      const wanted = agentById(deps.settings(), row.agent)?.notifyOn ?? 'none'
      if (wanted !== 'failure' && wanted !== 'both') return []
      const text = wordsIn().notices.sendFailed({ agent: row.agent, to: row.to, detail })
      try {
        return rowsFor(row, text)
      } catch (thrown) {
        const { message: error } = asSwitchboardError(thrown)
        await deps.store
          .logNotification({ ...notifyOnEntry(row, text), status: 'failed', error })
          .catch((later) => deps.log.warn({ send, error: String(later) }, 'not in the notification log'))
        return []
      }
    },
  }
}
