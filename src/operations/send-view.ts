// Messages on their way out, as operators see them: the field names that scripts rely on, and times in ISO 8601.
import { iso, opText, type SendRow, type SendView, type Store } from '../contract/index.ts'

export function sendView(row: SendRow): SendView {
  return {
    id: row.id,
    to: row.to,
    agent: row.agent,
    session: row.session,
    // What is under way now is on its way; what may have arrived already says so.
    state: row.state === 'sending' && row.reason !== 'outcome_open' ? 'queued' : row.state,
    // A try after one that failed is under way: that one's detail stands until this one has ended.
    reason:
      row.state === 'sending' && row.reason === null && row.detail !== null
        ? 'platform_unavailable'
        : row.reason,
    detail: row.detail,
    attempts: row.attempts,
    platform_ids: row.platformIds,
    created_at: iso(row.createdAt),
    updated_at: iso(row.updatedAt),
    cause: row.cause,
    turn: row.turn,
    text: row.op ? opText(row.op) : null,
    receipt: row.receipt,
  }
}

/** A list looks at so many conversations. Rows of the others are shown as they are. */
const MOST_LANES = 50

/**
 * As `sendView`. A message that waits behind one that its platform does not take was not tried itself: it is shown with
 * the reason of the first one.
 */
export async function sendViews(
  store: Pick<Store, 'sends'>,
  rows: readonly SendRow[],
): Promise<readonly SendView[]> {
  const untried = rows.filter(isUntried)
  const lanes = [...new Map(untried.map((row) => [row.lane, row])).values()].slice(0, MOST_LANES)
  const heads = new Map<string, SendRow>()
  for (const row of lanes) {
    const head = await headOf(store, row)
    if (head) heads.set(row.lane, head)
  }
  return rows.map((row) => {
    const head = isUntried(row) ? heads.get(row.lane) : undefined
    const view = sendView(row)
    if (!head || head.seq >= row.seq) return view
    const why = sendView(head)
    const detail = `waits behind ${head.id}${why.detail === null ? '' : `: ${why.detail}`}`
    return { ...view, reason: why.reason ?? 'platform_unavailable', detail }
  })
}

const isUntried = ({ state, reason, attempts }: SendRow) =>
  state === 'queued' && reason === null && attempts === 0

/** The first that is open there, where it was tried and is not there yet. */
async function headOf(store: Pick<Store, 'sends'>, row: SendRow): Promise<SendRow | null> {
  const { integration, conversation } = row
  const open = await store.sends({
    ...{ integration, conversation, states: ['queued', 'sending'], oldestFirst: true, limit: 20 },
  })
  const head = open.find(({ lane }) => lane === row.lane)
  return head && head.detail !== null ? head : null
}
