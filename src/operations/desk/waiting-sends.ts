// What waits in the outbox behind a message that its platform does not take has not been tried itself. It is shown with the
// reason of the first one, so that no message waits without one.
import type { SendRow, SendView, Store } from '../../contract/index.ts'
import { sendView } from './views.ts'

/** So many conversations are looked at for a list; the rows of the others are shown as they stand. */
const MOST_LANES = 50

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
