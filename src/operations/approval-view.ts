// Approvals as operators see them, and who was asked about each: the prompts that were written with the question.
import {
  type ApprovalRow,
  type ApprovalView,
  type AskedView,
  iso,
  isoOrNull,
  RELAY_PLACE,
  type SendRow,
  type Store,
  type TurnRow,
} from '../contract/index.ts'
import { sendView } from './send-view.ts'

export function approvalView(row: ApprovalRow): ApprovalView {
  return {
    id: row.id,
    seq: row.seq,
    agent: row.agent,
    session: row.session,
    turn: row.turn,
    tool_name: row.ask.toolName,
    description: row.ask.description,
    input: row.ask.input,
    input_hash: row.inputHash,
    state: row.state,
    behavior: row.behavior,
    cause: row.cause,
    decided_by: row.decidedBy,
    decided_via: row.decidedVia,
    decided_at: isoOrNull(row.decidedAt),
    created_at: iso(row.createdAt),
    expires_at: iso(row.expiresAt),
  }
}

const MOST_PLACES = 500

export async function askedPlaces(
  store: Pick<Store, 'sends' | 'turns' | 'turn'>,
  row: ApprovalRow,
): Promise<readonly AskedView[]> {
  const { id: approval, createdAt } = row
  const sends = await store.sends({ approval, sinceMs: createdAt, oldestFirst: true, limit: MOST_PLACES })
  // In the commit of the question: ids are used again once they are settled.
  const prompts = sends.filter((send) => send.cause === 'prompt' && send.createdAt === createdAt)
  const origin = row.turn === null || prompts.length === 0 ? null : await store.turn(row.turn)
  return Promise.all(
    prompts.map(async (send) => {
      const { state, reason, detail } = sendView(send)
      const { integration, conversation, thread } = send
      return {
        integration,
        conversation,
        thread,
        ...(await personAt(store, send, origin)),
        state,
        reason,
        detail,
      }
    }),
  )
}

/** In a group where nobody of its own is known any approver may decide: then it is nobody alone. */
async function personAt(
  store: Pick<Store, 'turns'>,
  { integration, conversation }: SendRow,
  origin: TurnRow | null,
): Promise<Pick<AskedView, 'who' | 'name'>> {
  if (conversation === RELAY_PLACE) return { who: integration, name: null }
  const isOrigin = origin?.integration === integration && origin.conversation === conversation
  const [last] = isOrigin ? [origin] : await store.turns({ integration, conversation, limit: 1 })
  const spoke = last ?? null
  if (spoke === null) return { who: conversation, name: null }
  if (!isOrigin && spoke.body?.chat === 'group') return { who: null, name: null }
  return { who: spoke.sender, name: spoke.body?.senderName ?? null }
}
