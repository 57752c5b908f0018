// A transport that shows what passes, raw: channel news are taken out before any schema, and the declared capabilities
// are read as they stood, for a server may write `true` where the SDK would refuse the whole handshake.
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import type { ServerNews } from '../../contract/index.ts'
import { newsOf } from './parse.ts'

export interface Taps {
  news(news: ServerNews): void
  experimental(value: unknown): void
  toolsChanged(): void
}

/** Stands in for `inner` towards the SDK. */
export function tapTransport(inner: Transport, taps: Taps): Transport {
  let initialize: string | number | null = null
  const outer: Transport = {
    ...(inner.hasPerRequestStream === undefined ? {} : { hasPerRequestStream: inner.hasPerRequestStream }),
    start() {
      inner.onclose = () => outer.onclose?.()
      inner.onerror = (error) => outer.onerror?.(error)
      inner.onmessage = (message, extra) => {
        if ('method' in message && !('id' in message)) {
          const news = newsOf(message.method, message.params)
          if (news.ok) return taps.news(news.value)
          if (message.method === 'notifications/tools/list_changed') taps.toolsChanged()
        }
        const answersInitialize = initialize !== null && 'result' in message && message.id === initialize
        outer.onmessage?.(answersInitialize ? declared(message, taps.experimental) : message, extra)
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
