// Read marks and "typing…". Both name the newest message of the chat. Typing also marks it as read and ends after 25
// seconds, so it is repeated until the work ends. It is lossy: failures are ignored.
import { type Address, type Cancel, type Clock, createBoundedMap, type Signal } from '../../contract/index.ts'
import type { WhatsAppClient } from './client.ts'
import type { WhatsAppConfig } from './config.ts'

const REMEMBERED = 10_000
const MARKED = 2_000
/** After this time typing stops, although the work continues. */
const AT_MOST_MS = 15 * 60_000

export interface Presence {
  /** An admitted sender wrote this. */
  heard(conversation: string, messageId: string): void
  signal(to: Address, signal: Signal): void
  stop(): void
}

export function createPresence(deps: {
  readonly client: WhatsAppClient
  readonly config: Pick<WhatsAppConfig, 'phoneNumberId' | 'readReceipts'>
  readonly clock: Clock
  readonly typingMs: number
}): Presence {
  const { client, config, clock } = deps
  const newest = createBoundedMap<string, string>(REMEMBERED)
  const marked = createBoundedMap<string, true>(MARKED)
  const running = new Map<string, Cancel>()

  const tell = (messageId: string, typing: boolean) => {
    const more = typing ? { typing_indicator: { type: 'text' } } : {}
    const json = { messaging_product: 'whatsapp', status: 'read', message_id: messageId, ...more }
    client.call(`${config.phoneNumberId}/messages`, { json, repeatable: true }).catch(() => undefined)
  }

  const type = (conversation: string, until: number) => {
    const messageId = newest.get(conversation)
    if (messageId !== undefined) {
      marked.set(messageId, true)
      tell(messageId, true)
    }
    if (clock.now() + deps.typingMs >= until) return void running.delete(conversation)
    running.set(
      conversation,
      clock.after(deps.typingMs, () => type(conversation, until)),
    )
  }

  return {
    heard: (conversation, messageId) => newest.set(conversation, messageId),
    signal({ conversation }, signal) {
      if (signal.kind === 'typing') {
        const before = running.get(conversation)
        if (!signal.on) {
          before?.()
          running.delete(conversation)
        } else if (before === undefined) type(conversation, clock.now() + AT_MOST_MS)
      }
      const has = signal.kind === 'turn_state' && (signal.state === 'handed' || signal.state === 'seen')
      if (
        has &&
        config.readReceipts &&
        newest.get(conversation) === signal.messageId &&
        !marked.has(signal.messageId)
      ) {
        marked.set(signal.messageId, true)
        tell(signal.messageId, false)
      }
    },
    stop() {
      for (const cancel of running.values()) cancel()
      running.clear()
    },
  }
}
