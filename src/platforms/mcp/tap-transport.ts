// A transport that shows what passes, raw: channel news are taken out before any schema, and the declared capabilities
// are read as they stood, for a server may write `true` where the SDK would refuse the whole handshake.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { defined, type ServerPush } from '../../contract/index.ts'
import { newsOf } from './parse.ts'

export interface Taps {
  news(news: ServerPush): void
  experimental(value: unknown): void
  toolsChanged(): void
  /** A message that nobody can read. */
  noise(): void
}

/** Far more than any tool's schema. What is deeper overflows the stack of whoever walks it, and so would end us. */
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
        // News may be as deep as they like: their parser looks at one level, and what it refuses is recorded.
        if (isDeeperThan(DEEPEST, message)) return taps.noise()
        const answersInitialize = initialize !== null && 'result' in message && message.id === initialize
        outer.onmessage?.(answersInitialize ? declared(message, taps.experimental) : message, extra)
      }
      // Whatever a server sends, it must not throw into the pipe it came from: that would be the end of the daemon.
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

/** The answer to `initialize` in the form that the protocol wants, after what was declared has been read as it stood. */
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
