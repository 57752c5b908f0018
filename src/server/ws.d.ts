// The used part of the package `ws`, for this room, the attach room and adapters, instead of a package of types.
declare module 'ws' {
  import type { ClientRequest, IncomingMessage } from 'node:http'
  import type { Duplex } from 'node:stream'

  interface WebSocket {
    /** 0 connecting, 1 open, 2 closing, 3 closed. */
    readonly readyState: number
    /** Bytes that the peer has not taken yet. */
    readonly bufferedAmount: number
    on(event: 'open', listen: () => void): this
    on(event: 'message', listen: (data: Buffer, isBinary: boolean) => void): this
    on(event: 'error', listen: (error: Error) => void): this
    on(event: 'close', listen: (code: number, reason: Buffer) => void): this
    on(
      event: 'unexpected-response',
      listen: (request: ClientRequest, response: IncomingMessage) => void,
    ): this
    on(event: 'ping' | 'pong', listen: (data: Buffer) => void): this
    send(data: string | Uint8Array, done?: (error?: Error) => void): void
    ping(data?: string): void
    close(code?: number, reason?: string): void
    terminate(): void
  }

  interface ClientOptions {
    readonly headers?: Readonly<Record<string, string>>
    readonly handshakeTimeout?: number
    readonly maxPayload?: number
    readonly perMessageDeflate?: boolean
    readonly followRedirects?: boolean
    readonly origin?: string
  }

  interface WebSocketServer {
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (socket: WebSocket) => void,
    ): void
  }

  interface ServerOptions {
    readonly noServer: true
    readonly clientTracking: false
    readonly maxPayload: number
    readonly perMessageDeflate: false
  }

  const WebSocket: { new (url: string, options?: ClientOptions): WebSocket }
  const WebSocketServer: { new (options: ServerOptions): WebSocketServer }
}
