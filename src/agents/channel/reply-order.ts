// The order of replies to one turn. Two hosts may hold it and answer it at once. The first reply goes out. The other
// host's reply waits for its outcome, and goes out only if the first one failed.
import type { Held } from './evidence.ts'
import type { Host } from './hosts.ts'

export interface ReplyOrder {
  /** Resolves when no other host's reply to this turn is being sent. Call the result when this reply is finished. */
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
