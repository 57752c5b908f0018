// Telegram's flood limits: about one message per second in a chat, 20 per minute in a group, 30 per second for the
// whole bot.
import type { Clock, Pace } from '../../contract/index.ts'
import { createChatPace } from '../../kit/index.ts'

const GROUP = { count: 20, perMs: 60_000 }

export function createPace(clock: Clock, chatIntervalMs = 1_000): Pace {
  return createChatPace({
    clock,
    intervalMs: chatIntervalMs,
    burst: 5,
    overall: { count: 30, perMs: 1_000 },
    windowOf: (chat) => (isGroup(chat) ? GROUP : null),
  })
}

/** Groups, supergroups and channels have negative ids. A public one may be named. */
function isGroup(chat: string): boolean {
  return chat.startsWith('-') || chat.startsWith('@')
}
