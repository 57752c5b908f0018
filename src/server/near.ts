// The one judge of "this machine": whether a request began here and was not passed on by a proxy. A proxy on this machine
// makes everybody look near, and not every proxy says so: where a public URL is configured, nobody is near.
import type { IncomingMessage } from 'node:http'
import { isLoopbackAddress, isLoopbackName, type ListenerView } from './host-guard.ts'

/** What proxies, tunnels and content networks add. One of them is enough. */
const OF_PROXIES: ReadonlySet<string> = new Set([
  ...['via', 'forwarded', 'cf-connecting-ip', 'cf-connecting-ipv6', 'cf-ray', 'cdn-loop', 'true-client-ip'],
  ...[
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-original-forwarded-for',
    'x-envoy-external-address',
  ],
  ...['fastly-client-ip', 'fly-client-ip', 'x-appengine-user-ip', 'x-azure-clientip', 'tailscale-user-login'],
])

/** True for the control socket, and for TCP from a loopback address, under a loopback name, straight from the client. */
export function isNear(request: IncomingMessage, listener: ListenerView, publicUrl: string | null): boolean {
  if (listener.local) return true
  if (!isLoopbackAddress(request.socket.remoteAddress) || !isLoopbackName(request.headers.host)) return false
  return !isPublic(publicUrl) && !wasForwarded(request)
}

function wasForwarded({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return Object.keys(headers).some((name) => OF_PROXIES.has(name) || name.startsWith('x-forwarded'))
}

/** A public_url that names this machine itself publishes nothing. */
export function isPublic(publicUrl: string | null): boolean {
  return publicUrl !== null && !(URL.canParse(publicUrl) && isLoopbackName(new URL(publicUrl).host))
}
