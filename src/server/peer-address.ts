// Finds the address of a request: the peer's own, or the one that a trusted proxy names.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/**
 * Proxies append the address of their peer, so the list is read from its end. The first address that is not a trusted
 * proxy counts. Undefined: there is none (the control socket), or a trusted proxy names something that is not an
 * address.
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

/** Returns IPv4 in its plain form, also when the socket shows it mapped to IPv6. */
function bare(address: string | undefined): string | undefined {
  const plain = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address ?? '')?.[1] ?? address?.split('%', 1)[0] ?? ''
  return isIP(plain) > 0 ? plain : undefined
}
