// A transport that shows raw messages. It takes channel notifications out before any schema. It reads the declared
// capabilities as they were written, because a server may write `true` where the SDK would refuse the handshake.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { defined, type ServerPush } from '../../contract/index.ts'
import { newsOf } from './parse.ts'

export interface Taps {
  news(news: ServerPush): void
  experimental(value: unknown): void
  toolsChanged(): void
  /** Called for an unreadable message. */
  noise(): void
}

/** Far more than the schema of any tool. A deeper value would overflow the stack of code that walks it. */
const DEEPEST = 200

/** Stands in for `inner` towards the SDK. */
export function tapTransport(inner: Transport, taps: Taps): Transport {
  let initialize: string | number | null = null
  const outer: Transport = {
    ...defined({ hasPerRequestStream: inner.hasPerRequestStream }),
    start() {
      inner.onclose = () => outer.onclose?.()
      inner.onerror = (error) => outer.onerror?.(error)
      const heard: NonNullable<Transport['onmessage']> = (message, extra) => {
        if ('method' in message && !('id' in message) && typeof message.method === 'string') {
          const news = newsOf(message.method, message.params)
          if (news.ok) return taps.news(news.value)
          if (message.method === 'notifications/tools/list_changed') taps.toolsChanged()
        }
        // Notifications may be deeper. Their parser looks at one level, and refusals are recorded.
        if (isDeeperThan(DEEPEST, message)) return taps.noise()
        const answersInitialize = initialize !== null && 'result' in message && message.id === initialize
        outer.onmessage?.(answersInitialize ? declared(message, taps.experimental) : message, extra)
      }
      // No message of a server may throw into its pipe, because that would end the daemon.
      inner.onmessage = (message, extra) => {
        try {
          heard(message, extra)
        } catch {
          taps.noise()
        }
      }
      return inner.start()
    },
    send(message, options) {
      if ('method' in message && message.method === 'initialize' && 'id' in message) initialize = message.id
      return inner.send(message, options)
    },
    close: () => inner.close(),
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    get sessionId() {
      return inner.sessionId
    },
  }
  return outer
}

function isDeeperThan(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (levels === 0) return true
  for (const one of Array.isArray(value) ? value : Object.values(value))
    if (isDeeperThan(levels - 1, one)) return true
  return false
}

/** Reads the declaration as it was written, then brings the answer to `initialize` into the protocol's form. */
function declared<T extends JSONRPCMessage>(message: T, experimental: (value: unknown) => void): T {
  const { result } = message as { readonly result?: { readonly capabilities?: unknown } }
  const capabilities = result?.capabilities
  if (typeof capabilities !== 'object' || capabilities === null) return message
  const written = (capabilities as { readonly experimental?: unknown }).experimental
  experimental(written)
  const kept = Object.entries(typeof written === 'object' && written !== null ? written : {}).filter(
    ([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value),
  )
  return {
    ...message,
    result: { ...result, capabilities: { ...capabilities, experimental: Object.fromEntries(kept) } },
  }
}
