// The order of replies to one turn: two hosts may hold it, and answer it at once. The first goes; another host's waits for its
// outcome, and is sent only if that one failed.
import type { Held } from './evidence.ts'
import type { Host } from './hosts.ts'

export interface ReplyOrder {
  /** Resolves when no other host's reply to it is under way; what comes back is called when this one is over. */
  myTurn(host: Pick<Host, 'key'>, held: Held): Promise<() => void>
}

export function createReplyOrder(): ReplyOrder {
  const replying = new Set<{ readonly turn: string; readonly host: string; readonly over: Promise<void> }>()
  return {
    async myTurn({ key }, held) {
      for (;;) {
        const other = [...replying].find(({ turn, host }) => turn === held.turn && host !== key)
        if (other === undefined || held.phase === 'elsewhere') break
        await other.over
      }
      let end: () => void = () => undefined
      const over = new Promise<void>((resolve) => {
        end = resolve
      })
      const own = { turn: held.turn, host: key, over }
      replying.add(own)
      return () => {
        replying.delete(own)
        end()
      }
    },
  }
}
