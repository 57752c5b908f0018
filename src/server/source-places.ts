// Who holds the connections of a listener: one source cannot take all of them. Only where others come in too: on a loopback
// address everybody is one source, and nobody is kept out by it.
import type { Socket } from 'node:net'
import type { ServerLimits } from './deps.ts'
import { isLoopbackAddress } from './host-guard.ts'
import { isPublic } from './near.ts'
import { sourceOf } from './source-of.ts'

export interface SourcePlaces {
  /** False: this source has as many as it may, and the connection should end. */
  take(socket: Socket): boolean
}

export function createSourcePlaces(
  limits: Pick<ServerLimits, 'maxConnections'>,
  publicUrl: () => string | null,
): SourcePlaces {
  /** As many entries as connections at most. */
  const held = new Map<string, number>()
  const counted = new WeakSet<Socket>()

  /** A proxy speaks for many, and so may this machine: they leave a quarter to others, a single peer three quarters. */
  const most = (address: string | undefined) => {
    const quarters = isLoopbackAddress(address) || isPublic(publicUrl()) ? 3 : 1
    return Math.max(1, Math.floor((limits.maxConnections * quarters) / 4))
  }

  return {
    take(socket) {
      // One that was given back to the parser comes a second time.
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
