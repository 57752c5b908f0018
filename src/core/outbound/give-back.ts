// Undoes a claim whose session was unreachable at hand-over, and tells the person that the chat is theirs again.
import type { Store, TurnRow } from '../../contract/index.ts'
import { notice } from '../notices.ts'
import { rowAddress } from '../signals.ts'

export async function giveBackClaim(store: Pick<Store, 'giveBack'>, row: TurnRow): Promise<void> {
  if (row.session === null) return
  const to = rowAddress(row)
  const target = { to, platform: row.platform, agent: row.agent, session: row.session, turn: row.id }
  // The store knows the label and inserts it.
  await store.giveBack(to, row.session, [
    notice(target, (words) => words.notices.claim.unreachable, `given-back:${row.id}`),
  ])
}
