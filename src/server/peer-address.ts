// Which address a request comes from: the peer's own, or the one that a trusted proxy names.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Proxies add the address of their own peer at the end, so the list is read from there: the first that is no trusted proxy
 * is the one. Undefined: there is none (the control socket), or a trusted proxy says something that is no address.
 */
export function peerAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusts: ((address: string) => boolean) | undefined,
): string | undefined {
  const peer = bare(request.socket.remoteAddress)
  if (peer === undefined || trusts?.(peer) !== true) return peer
  const header = request.headers['x-forwarded-for']
  const hops = String(header ?? '')
    .split(',')
    .map((hop) => hop.trim())
  if (header === undefined) return peer
  for (const hop of hops.reverse()) {
    const address = bare(hop)
    if (address === undefined || !trusts(address)) return address
  }
  return bare(hops.at(-1))
}

/** IPv4 as such, whatever the socket calls it. */
function bare(address: string | undefined): string | undefined {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address ?? '')?.[1] ?? address?.split('%', 1)[0] ?? ''
  return isIP(plain) > 0 ? plain : undefined
}
