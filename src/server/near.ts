// Judges whether a request began on this machine. A proxy on this machine makes every visitor look local, and some proxies
// add no mark of their own: nginx as it comes changes the Host to ours and names nobody. So every doubt counts against it.
import type { IncomingMessage } from 'node:http'
import { isLoopbackAddress, isLoopbackName, type ListenerView } from './host-guard.ts'

/** Headers that proxies, tunnels and content networks add. One of them is enough. */
const OF_PROXIES =
  /^(?:via$|forwarded$|cdn-loop$|surrogate-capability$|(?:client|true-client|incap-client|do-connecting|(?:wl-)?proxy-client)-ip$|front-end-https$|proxy-connection$|(?:akamai|cf|cloudfront|fastly|fly|ngrok|tailscale)-|x-(?:(?:client-ip|cluster-client-ip|host|originating-ip|remote-addr|remote-ip|request-start|rewrite-url|scheme|script-name|url-scheme|varnish)$|forwarded|(?:akamai|amz-cf|amzn|appengine|arr|azure|cloud-trace|envoy|haproxy|nginx|original|proxy|proxyuser|real|ssl|sucuri|traefik|vercel)-))/

/**
 * True for the control socket. Over TCP all of these must hold: a loopback address, our own Host with our own port, no mark
 * of a proxy, no page of another site, and no public URL.
 */
export function isNear(request: IncomingMessage, listener: ListenerView, publicUrl: string | null): boolean {
  if (listener.local) return true
  const { remoteAddress, localPort } = request.socket
  if (!isLoopbackAddress(remoteAddress) || !isOwnHost(request.headers.host, localPort)) return false
  return !isPublic(publicUrl) && !wasForwarded(request) && !isFromOtherSite(request)
}

/** A loopback name with the port of this listener: a proxy or a tunnel often keeps the port it was asked on. */
function isOwnHost(host: string | undefined, port: number | undefined): boolean {
  return isLoopbackName(host) && Number(/:(\d+)$/.exec(host ?? '')?.[1] ?? 80) === port
}

/** HTTP/1.0 is a mark too: nginx speaks it unless told otherwise, and no client of today does. */
function wasForwarded({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  if (httpVersion !== '1.1') return true
  return Object.keys(headers).some((name) => OF_PROXIES.test(name))
}

/** A page that was opened under another name than ours got here through something that renamed us. */
function isFromOtherSite({ headers: { origin, referer } }: Pick<IncomingMessage, 'headers'>): boolean {
  return [origin, referer].some(
    (page) => page !== undefined && !(URL.canParse(page) && isLoopbackName(new URL(page).host)),
  )
}

/** A public_url that names this machine itself publishes nothing. */
export function isPublic(publicUrl: string | null): boolean {
  return publicUrl !== null && !(URL.canParse(publicUrl) && isLoopbackName(new URL(publicUrl).host))
}
