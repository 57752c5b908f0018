// Shares the connections of a listener among sources, so that one source cannot take all of them. A loopback listener
// has only one source, so no limit applies there.
import type { Socket } from 'node:net'
import type { ServerLimits } from './deps.ts'
import { isLoopbackAddress } from './host-guard.ts'
import { isPublic } from './near.ts'
import { sourceOf } from './source-of.ts'

export interface SourcePlaces {
  /** False: this source has reached its limit, and the connection should end. */
  take(socket: Socket): boolean
}

export function createSourcePlaces(
  limits: Pick<ServerLimits, 'maxConnections'>,
  publicUrl: () => string | null,
): SourcePlaces {
  /** It has at most one entry for each connection. */
  const held = new Map<string, number>()
  const counted = new WeakSet<Socket>()

  /**
   * A proxy, or this machine, stands for many clients and leaves a quarter to others. A single peer leaves three
   * quarters.
   */
  const most = (address: string | undefined) => {
    const quarters = isLoopbackAddress(address) || isPublic(publicUrl()) ? 3 : 1
    return Math.max(1, Math.floor((limits.maxConnections * quarters) / 4))
  }

  return {
    take(socket) {
      // A connection that was given back to the parser appears a second time.
      if (counted.has(socket)) return true
      const source = sourceOf(socket.remoteAddress)
      const now = held.get(source) ?? 0
      if (now >= most(socket.remoteAddress)) return false
      counted.add(socket)
      held.set(source, now + 1)
      socket.once('close', () => {
        const left = (held.get(source) ?? 1) - 1
        if (left > 0) held.set(source, left)
        else held.delete(source)
      })
      return true
    },
  }
}
