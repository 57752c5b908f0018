// Connections to foreign hosts that stay open for a moment after an exchange. One is reused only for the same name,
// port and checked addresses, so a name that resolves differently gets a new one. The time is short, because a peer may
// close an idle connection during our write, and then the outcome is unknown.
import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { createBoundedMap } from '../../contract/index.ts'
import type { ResolvedAddress } from './look-up.ts'

export type KeptConnections = (url: URL, addresses: readonly ResolvedAddress[]) => HttpAgent | HttpsAgent

const IDLE_MS = 1_000
/** The most idle connections per host. Further ones are closed after use. */
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
    // The time-out ends idle connections. A running exchange has its own deadline.
    const fresh = new Agent({ keepAlive: true, timeout: idleMs, maxFreeSockets: MOST_IDLE })
    hosts.set(key, fresh)
    return fresh
  }
}
