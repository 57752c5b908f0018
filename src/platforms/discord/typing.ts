// Shows that the agent works. Discord drops it after ten seconds, so it is repeated until the work ends.
import { type Address, type Cancel, type Clock, formatAddress } from '../../contract/index.ts'

/** After this time it stops, although the work continues. */
const AT_MOST_MS = 15 * 60_000
const MOST_AT_ONCE = 1_000

export interface Typing {
  set(to: Address, on: boolean): void
  stop(): void
}

/** `say` is lossy: a failure is ignored. */
export function createTyping(
  say: (to: Address) => Promise<unknown>,
  { clock, everyMs }: { readonly clock: Clock; readonly everyMs: number },
): Typing {
  const shown = new Map<string, Cancel>()
  const keepUp = (to: Address, key: string, until: number) => {
    say(to).catch(() => undefined)
    if (clock.now() + everyMs >= until) return void shown.delete(key)
    shown.set(
      key,
      clock.after(everyMs, () => keepUp(to, key, until)),
    )
  }
  return {
    set(to, on) {
      const key = formatAddress(to)
      const again = shown.get(key)
      if (!on) {
        again?.()
        shown.delete(key)
      } else if (again === undefined && shown.size < MOST_AT_ONCE) keepUp(to, key, clock.now() + AT_MOST_MS)
    },
    stop() {
      for (const cancel of shown.values()) cancel()
      shown.clear()
    },
  }
}
