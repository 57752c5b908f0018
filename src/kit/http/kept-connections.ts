// Connections to foreign hosts that stay open for a moment after an exchange. One is used again only for the same name, port
// and checked addresses: whoever resolves to something else now gets a fresh one. A moment, because a peer may close what is
// idle just when we write to it, and then nobody knows whether the request arrived.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createBoundedMap } from '../../contract/index.ts'
import type { ResolvedAddress } from './look-up.ts'

export type KeptConnections = (url: URL, addresses: readonly ResolvedAddress[]) => HttpAgent | HttpsAgent

const IDLE_MS = 1_000
/** Of one host: more than may be on their way at once are closed when they are done. */
const MOST_IDLE = 64
const HOSTS = 256

export function createKeptConnections(idleMs = IDLE_MS): KeptConnections {
  const hosts = createBoundedMap<string, HttpAgent | HttpsAgent>(HOSTS)
  return (url, addresses) => {
    const checked = addresses.map(({ address }) => address).toSorted()
    const key = [url.protocol, url.host, ...checked].join(' ')
    const known = hosts.get(key)
    if (known) return known
    const Agent = url.protocol === 'https:' ? HttpsAgent : HttpAgent
    // The time-out ends what is idle; what is under way has a deadline of its own.
    const fresh = new Agent({ keepAlive: true, timeout: idleMs, maxFreeSockets: MOST_IDLE })
    hosts.set(key, fresh)
    return fresh
  }
}
