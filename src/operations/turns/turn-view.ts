// Turns as operators see them: the field names that scripts rely on, and times in ISO 8601.
import {
  defined,
  iso,
  type Store,
  type TokenUsage,
  type TurnDetail,
  type TurnEventRow,
  type TurnEventView,
  type TurnRow,
  type TurnView,
  type UsageView,
} from '../../contract/index.ts'
import { agentStanding } from '../../health/cluster-view.ts'
import { approvalView } from '../approval-view.ts'
import type { OperationContext } from '../context.ts'
import { sendViews } from '../send-view.ts'

export function turnView(row: TurnRow): TurnView {
  return {
    id: row.id,
    session: row.session,
    agent: row.agent,
    integration: row.integration,
    source: row.source,
    address: row.address,
    sender: row.sender,
    state: row.state,
    reason: row.reason,
    attempts: row.attempts,
    received_at: iso(row.receivedAt),
    updated_at: iso(row.updatedAt),
    message_id: row.messageId,
    text: row.body?.text ?? null,
    late: row.lateAt !== null,
    ...defined({ sender_name: row.body?.senderName }),
    ...(row.usage ? { usage: usageView(row.usage) } : {}),
  }
}

function usageView({ input, output, cacheRead, cacheWrite, costMicros }: TokenUsage): UsageView {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_read_tokens: cacheRead,
    cache_write_tokens: cacheWrite,
    ...(costMicros === undefined ? {} : { cost: costMicros / 1_000_000 }),
  }
}

export function turnEventView(row: TurnEventRow): TurnEventView {
  return { ...row, at: iso(row.at) }
}

/** As `turnView`, with the reason why a queued turn waits: no request reaches its agent, tried or not. */
export function waitingTurnView(row: TurnRow, live: OperationContext['live']): TurnView {
  const waits =
    live !== null &&
    row.state === 'queued' &&
    row.agent !== null &&
    agentStanding(row.agent, live.gateway, []).state === 'unreachable'
  return waits ? { ...turnView(row), reason: 'agent_unreachable' } : turnView(row)
}

/** So many sends and approvals of one turn are shown with it. */
const MOST_SHOWN = 100

export async function turnDetail(
  row: TurnRow,
  context: Pick<OperationContext, 'live'> & {
    readonly store: Pick<Store, 'turnEvents' | 'sends' | 'approvals'>
  },
): Promise<TurnDetail> {
  const { store } = context
  const { id, integration, conversation } = row
  const [events, sends, approvals] = await Promise.all([
    store.turnEvents(id),
    // By the place: the turn alone would be looked for in all of the outbox.
    store.sends({ integration, conversation, turn: id, oldestFirst: true, limit: MOST_SHOWN }),
    store.approvals({ turn: id, limit: MOST_SHOWN }),
  ])
  return {
    ...waitingTurnView(row, context.live),
    events: events.map(turnEventView),
    repeat: row.repeat,
    sends: await sendViews(store, sends),
    approvals: approvals.map((one) => {
      const { input: _input, description: _description, ...rest } = approvalView(one)
      return rest
    }),
  }
}
