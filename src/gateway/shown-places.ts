// The conversations that a channel server has shown, to any agent. Refused messages count, because a reply without a
// target could reach their senders too.
import {
  type Address,
  type ConversationCursor,
  RELAY_PLACE,
  type Store,
  TURN_STATES,
} from '../contract/index.ts'
import type { Links } from '../core/links.ts'

const PAGE = 200
const NOT_REFUSED = TURN_STATES.filter((state) => state !== 'refused')

export async function shownPlaces(
  server: string,
  {
    store,
    links,
  }: {
    readonly store: Pick<Store, 'gatherConversations' | 'conversations' | 'turns'>
    readonly links: Pick<Links, 'all'>
  },
): Promise<readonly Pick<Address, 'conversation' | 'thread'>[]> {
  while (await store.gatherConversations());
  const places = new Map<string, Pick<Address, 'conversation' | 'thread'>>()
  for (const { integration, adapter } of links.all()) {
    if (adapter.channel?.server !== server) continue
    let before: ConversationCursor | null = null
    do {
      const page: Awaited<ReturnType<Store['conversations']>> = await store.conversations({
        integration,
        limit: PAGE,
        ...(before === null ? {} : { before }),
      })
      for (const { at, turns } of page.rows) {
        if (turns === 0 || at.conversation === RELAY_PLACE) continue
        if (at.conversation === adapter.channel.wholeServer && !(await isSpoken(store, at))) continue
        places.set(JSON.stringify([at.conversation, at.thread]), at)
        if (places.size > 1) return [...places.values()]
      }
      before = page.next
    } while (before !== null)
  }
  return [...places.values()]
}

/** Messages refused before parsing count for the whole server, whatever their conversation. */
async function isSpoken(
  store: Pick<Store, 'turns'>,
  { integration, conversation }: Address,
): Promise<boolean> {
  const spoken = await store.turns({ integration, conversation, states: NOT_REFUSED, limit: 1 })
  return spoken.length > 0
}
