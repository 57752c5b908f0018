// The turns that one host holds, in the order of hand-over. A host may hold thousands, and every message and call asks
// about some of them. Each question has its own index, so nothing is searched.
import type { Held } from './evidence.ts'

/** A change of a held turn. `change` updates the indexes. */
export type HeldChange = Partial<Pick<Held, 'phase' | 'seen' | 'fetched'>>

export interface HeldTurns extends Iterable<Held> {
  readonly size: number
  /** The acknowledged turns. */
  readonly acked: ReadonlySet<Held>
  /** The number of open turns without evidence. */
  readonly unseenCount: number
  get(turn: string): Held | undefined
  newest(): Held | undefined
  /** Open turns without evidence. */
  unseen(): readonly Held[]
  hasUnseen(session: string, which: (held: Held) => boolean): boolean
  inChat(chatId: string): Iterable<Held>
  /** Finds turns by the message's id or the turn's. */
  named(names: readonly string[]): readonly Held[]
  /** Turns without evidence, in any phase, up to and including this one. */
  unprovenUpTo(held: Held): readonly Held[]
  /** The earlier turns of the same chat. */
  beforeInChat(held: Held): readonly Held[]
  add(held: Held): void
  remove(held: Held): void
  change(held: Held, to: HeldChange): void
}

export function createHeldTurns(): HeldTurns {
  const byTurn = new Map<string, Held>()
  const order = new Map<Held, number>()
  const byChat = new Map<string, Set<Held>>()
  const byMessage = new Map<string, Set<Held>>()
  /** Turns without evidence, by session. */
  const unproven = new Set<Held>()
  const unprovenOf = new Map<string, Set<Held>>()
  const acked = new Set<Held>()
  let unseenCount = 0
  let handed = 0
  let newest: Held | undefined

  const placeOf = (held: Held): number => order.get(held) ?? -1
  const isUnseen = (held: Held) => held.phase === 'open' && !held.seen

  /** The indexes that depend on phase and evidence. */
  const enter = (held: Held) => {
    if (isUnseen(held)) unseenCount += 1
    if (held.phase === 'acked') acked.add(held)
  }
  const leave = (held: Held) => {
    if (isUnseen(held)) unseenCount -= 1
    acked.delete(held)
  }
  const prove = (held: Held) => {
    unproven.delete(held)
    drop(unprovenOf, held.session, held)
  }

  return {
    get size() {
      return byTurn.size
    },
    get unseenCount() {
      return unseenCount
    },
    acked,
    [Symbol.iterator]: () => byTurn.values(),
    get: (turn) => byTurn.get(turn),
    newest() {
      if (newest && byTurn.get(newest.turn) !== newest) newest = [...byTurn.values()].at(-1)
      return newest
    },
    unseen: () => (unseenCount === 0 ? [] : [...unproven].filter(isUnseen)),
    hasUnseen(session, which) {
      for (const held of unprovenOf.get(session) ?? []) if (isUnseen(held) && which(held)) return true
      return false
    },
    inChat: (chatId) => byChat.get(chatId) ?? [],
    named(names) {
      const found = new Set<Held>()
      for (const name of names) {
        for (const held of byMessage.get(name) ?? []) found.add(held)
        const held = byTurn.get(name)
        if (held) found.add(held)
      }
      return [...found].sort((a, b) => placeOf(a) - placeOf(b))
    },
    unprovenUpTo: (last) => upTo(unproven, (held) => placeOf(held) <= placeOf(last)),
    beforeInChat: (last) => upTo(byChat.get(last.chatId) ?? [], (held) => placeOf(held) < placeOf(last)),
    add(held) {
      const known = byTurn.get(held.turn)
      if (known) this.remove(known)
      byTurn.set(held.turn, held)
      order.set(held, ++handed)
      put(byChat, held.chatId, held)
      put(byMessage, held.messageId, held)
      if (!held.seen) {
        unproven.add(held)
        put(unprovenOf, held.session, held)
      }
      newest = held
      enter(held)
    },
    remove(held) {
      if (byTurn.get(held.turn) !== held) return
      leave(held)
      prove(held)
      byTurn.delete(held.turn)
      order.delete(held)
      drop(byChat, held.chatId, held)
      drop(byMessage, held.messageId, held)
    },
    change(held, to) {
      const known = byTurn.get(held.turn) === held
      if (known) leave(held)
      Object.assign(held, to)
      if (!known) return
      enter(held)
      if (held.seen) prove(held)
    },
  }
}

/** The turns are in order, so the first one that does not belong ends the list. */
function upTo(all: Iterable<Held>, belongs: (held: Held) => boolean): readonly Held[] {
  const found: Held[] = []
  for (const held of all) {
    if (!belongs(held)) break
    found.push(held)
  }
  return found
}

function put<Key>(index: Map<Key, Set<Held>>, key: Key, held: Held): void {
  const known = index.get(key)
  if (known) known.add(held)
  else index.set(key, new Set([held]))
}

function drop<Key>(index: Map<Key, Set<Held>>, key: Key, held: Held): void {
  const known = index.get(key)
  known?.delete(held)
  if (known?.size === 0) index.delete(key)
}
