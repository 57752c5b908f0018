// Where a person is reached on a platform whose senders are not chats (a Chorus channel is no person): in the
// conversations where they wrote lately.
import { type Address, type Clock, everyRow, type Store } from '../../contract/index.ts'
import { rowAddress } from '../signals.ts'

/** The lifetime of callbacks of a Chorus service. */
const LATELY_MS = 24 * 3_600_000
const MOST_PLACES = 20

/** Returns up to twenty conversations, newest first. `chat.conversation` is the sender's id. */
export async function spokenLately(
  { store, clock }: { readonly store: Pick<Store, 'turns'>; readonly clock: Clock },
  chat: Address,
): Promise<readonly Address[]> {
  const places = new Map<string, Address>()
  const recent = { integration: chat.integration, sinceMs: clock.now() - LATELY_MS }
  for await (const row of everyRow((page) => store.turns({ ...recent, ...page }))) {
    if (row.sender !== chat.conversation || row.state === 'refused') continue
    places.set(row.address, rowAddress(row))
    if (places.size >= MOST_PLACES) break
  }
  return [...places.values()]
}
