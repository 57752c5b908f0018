// Where a person is reached on a platform whose senders are no chats (a Chorus channel is no person): in the conversations
// in which they spoke lately.
import { type Address, type Clock, everyRow, type Store } from '../../contract/index.ts'
import { rowAddress } from '../signals.ts'

/** Callbacks of a Chorus service live as long. */
const LATELY_MS = 24 * 3_600_000
const MOST_PLACES = 20

/** Newest first; at most twenty. `chat.conversation` is the sender's id. */
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
