// Judges whether a request began on this machine. A proxy on this machine makes every visitor look local. Some proxies
// add no header: nginx in its default configuration changes the Host to ours and names no client. Any doubt means: not
// local.
import type { IncomingMessage } from 'node:http'
import { isLoopbackAddress, isLoopbackName, type ListenerView } from './host-guard.ts'

/** Headers that proxies, tunnels and content networks add. One of them proves a proxy. */
const OF_PROXIES =
  /^(?:via$|forwarded$|cdn-loop$|surrogate-capability$|(?:client|true-client|incap-client|do-connecting|(?:wl-)?proxy-client)-ip$|front-end-https$|proxy-connection$|(?:akamai|cf|cloudfront|fastly|fly|ngrok|tailscale)-|x-(?:(?:client-ip|cluster-client-ip|host|originating-ip|remote-addr|remote-ip|request-start|rewrite-url|scheme|script-name|url-scheme|varnish)$|forwarded|(?:akamai|amz-cf|amzn|appengine|arr|azure|cloud-trace|envoy|haproxy|nginx|original|proxy|proxyuser|real|ssl|sucuri|traefik|vercel)-))/

/**
 * True for the control socket. Over TCP all of these must hold: a loopback address, our own Host with our own port, no
 * mark of a proxy, no page of another site, and no public URL.
 */
export function isNear(request: IncomingMessage, listener: ListenerView, publicUrl: string | null): boolean {
  if (listener.local) return true
  const { remoteAddress, localPort } = request.socket
  if (!isLoopbackAddress(remoteAddress) || !isOwnHost(request.headers.host, localPort)) return false
  return !isPublic(publicUrl) && !wasForwarded(request) && !isFromOtherSite(request)
}

/** A loopback name with the port of this listener. A proxy or tunnel often keeps its own port instead. */
function isOwnHost(host: string | undefined, port: number | undefined): boolean {
  return isLoopbackName(host) && Number(/:(\d+)$/.exec(host ?? '')?.[1] ?? 80) === port
}

/** HTTP/1.0 also proves a proxy: nginx uses it by default, and no current client does. */
function wasForwarded({ headers, httpVersion }: Pick<IncomingMessage, 'headers' | 'httpVersion'>): boolean {
  if (httpVersion !== '1.1') return true
  return Object.keys(headers).some((name) => OF_PROXIES.test(name))
}

/** The page was opened under another name than ours, so a proxy changed the name. */
function isFromOtherSite({ headers: { origin, referer } }: Pick<IncomingMessage, 'headers'>): boolean {
  return [origin, referer].some(
    (page) => page !== undefined && !(URL.canParse(page) && isLoopbackName(new URL(page).host)),
  )
}

/** A public_url on a loopback address makes nothing public. */
export function isPublic(publicUrl: string | null): boolean {
  return publicUrl !== null && !(URL.canParse(publicUrl) && isLoopbackName(new URL(publicUrl).host))
}
