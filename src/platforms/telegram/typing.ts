// "typing…" in a chat. Telegram drops it after five seconds, so it is repeated until the work ends.
import type { Address, Cancel, Clock } from '../../contract/index.ts'
import { formatAddress } from '../../contract/index.ts'
import type { TelegramClient } from './client.ts'
import { placeOf } from './render.ts'

const AGAIN_MS = 4_500
/** After this time typing stops, although the work continues. */
const AT_MOST_MS = 15 * 60_000

export interface Typing {
  set(to: Address, on: boolean): void
  stop(): void
}

export function createTyping(client: TelegramClient, clock: Clock): Typing {
  const running = new Map<string, Cancel>()

  const say = (to: Address, key: string, until: number) => {
    // Lossy by contract: a failed signal is ignored.
    client
      .call('sendChatAction', { ...placeOf(to), action: 'typing' }, { repeatable: true })
      .catch(() => undefined)
    if (clock.now() + AGAIN_MS >= until) return running.delete(key)
    return running.set(
      key,
      clock.after(AGAIN_MS, () => say(to, key, until)),
    )
  }

  return {
    set(to, on) {
      const key = formatAddress(to)
      const before = running.get(key)
      if (!on) {
        before?.()
        running.delete(key)
      } else if (before === undefined) say(to, key, clock.now() + AT_MOST_MS)
    },
    stop() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
