// The operator's part of conversations: the list, one as people saw it, and stepping in.
import {
  conversationCursor,
  type Desk,
  defined,
  parseThreadCursor,
  type ReadDesk,
  type Settings,
  type Store,
  SwitchboardError,
  threadCursor,
  withoutNulls,
} from '../../contract/index.ts'
import type { Gateway } from '../../gateway/gateway.ts'
import { conversationView, takeoverView, threadItem } from './conversation-views.ts'

type Reading = Pick<ReadDesk, 'conversations' | 'conversation' | 'thread' | 'takeovers'>

export function createConversationReads(store: Store, settings: () => Settings): Reading {
  const beheld = (by: string) => ({ settings: settings(), by })
  /** Without a daemon nobody may write: then the list is as it was told last. */
  const gathered = async () => {
    try {
      while (await store.gatherConversations());
    } catch (thrown) {
      if (!(thrown instanceof SwitchboardError) || thrown.code !== 'daemon_absent') throw thrown
    }
  }
  return {
    async conversations(filter, by) {
      await gathered()
      const { rows, next } = await store.conversations(filter)
      return {
        items: rows.map((row) => conversationView(row, beheld(by))),
        next: conversationCursor(next),
      }
    },
    async conversation(at, by) {
      await gathered()
      const row = await store.conversation(at)
      return row ? conversationView(row, beheld(by)) : null
    },
    async thread(at, { limit, before }, by) {
      await gathered()
      const from = before === undefined ? {} : { before: parseThreadCursor(before) }
      const { rows, next } = await store.thread(at, { limit, ...from })
      return { items: rows.map((row) => threadItem(row, beheld(by))), next: threadCursor(next) }
    },
    async takeovers(state, by) {
      const rows = await store.takeovers(withoutNulls({ state }))
      return rows.map((row) => takeoverView(row, beheld(by)))
    },
  }
}

export function createDeskTakeovers(deps: {
  readonly gateway: Gateway
  readonly settings: () => Settings
}): Pick<Desk, 'takeConversation' | 'sayHeld' | 'giveConversation'> {
  const { takeovers } = deps.gateway
  const beheld = (by: string) => ({ settings: deps.settings(), by })
  return {
    async takeConversation(at, { force }, by) {
      const taken = await takeovers.take(at, by, force)
      return {
        won: taken.won,
        takeover: takeoverView(taken.takeover, beheld(by)),
        previous: taken.previous === null ? null : takeoverView(taken.previous, beheld(by)),
        ended: { queued: taken.queued.length, running: taken.running.length },
      }
    },
    sayHeld: (at, { text, idempotency_key, wait_ms }, by) =>
      takeovers.say(at, by, {
        text,
        ...defined({ idempotencyKey: idempotency_key, waitMs: wait_ms }),
      }),
    giveConversation: async (at, { force }, by) => ({
      takeover: takeoverView(await takeovers.give(at, by, force), beheld(by)),
    }),
  }
}
