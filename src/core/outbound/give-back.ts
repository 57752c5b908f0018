// A claim whose session turned out to be unreachable when its turn was handed over: it is given back, and the person
// is told that the chat is theirs again.
import type { Store, TurnRow } from '../../contract/index.ts'
import { CLAIM_TEXTS } from '../claims.ts'
import { notice } from '../notices.ts'
import { rowAddress } from '../signals.ts'

export async function giveBackClaim(store: Pick<Store, 'giveBack'>, row: TurnRow): Promise<void> {
  if (row.session === null) return
  const to = rowAddress(row)
  const target = { to, platform: row.platform, agent: row.agent, session: row.session, turn: row.id }
  // The store knows the label, and replaces it.
  await store.giveBack(to, row.session, [notice(target, CLAIM_TEXTS.unreachable, `given-back:${row.id}`)])
}
