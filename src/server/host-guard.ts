// Refuses requests from foreign pages. The Host must be ours, which stops DNS rebinding. The Origin of a change must be
// ours.
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { SwitchboardError } from '../contract/index.ts'

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

export interface ListenerView {
  /** The control socket: the file's mode is the credential, and no browser reaches it. */
  readonly local: boolean
  /** The TCP address is a loopback one. */
  readonly loopback: boolean
}

export function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false
  return address === '::1' || /^(?:::ffff:)?127\./.test(address)
}

/** Whether a listener on this host can be reached from this machine only. */
export function isLoopbackListener(host: string): boolean {
  return host === 'localhost' || (isIP(host) > 0 && isLoopbackAddress(host))
}

/** Returns the host in lower case and without the port. Null: it is not a host. */
function hostName(header: string | undefined): string | null {
  const match = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/i.exec(header ?? '')
  return match?.[1]?.toLowerCase() ?? null
}

export function isLoopbackName(header: string | undefined): boolean {
  const host = hostName(header)
  return host !== null && LOOPBACK_HOST.test(host)
}

/**
 * Finds an ambiguous head: no valid Host, or a second Host or Authorization. Node uses the first of two, but a proxy in
 * front may have checked the other one. Null: the head is clear.
 */
export function unclearHead(request: IncomingMessage, listener: ListenerView): SwitchboardError | null {
  if (listener.local) return null
  if (hostName(request.headers.host) === null)
    return new SwitchboardError('input_invalid', 'the Host header is missing or malformed')
  const twice = sentTwice(request.rawHeaders)
  return twice === null ? null : new SwitchboardError('input_invalid', `the ${twice} header was sent twice`)
}

function sentTwice(raw: readonly string[]): 'Host' | 'Authorization' | null {
  let hosts = 0
  let credentials = 0
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] ?? ''
    // Lengths are compared first, because this runs for every request.
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
    else if (name.length === 13 && name.toLowerCase() === 'authorization') credentials += 1
  }
  return hosts > 1 ? 'Host' : credentials > 1 ? 'Authorization' : null
}

/** Returns the `forbidden` to answer with. Null: the request is allowed. */
export function guardBrowser(
  request: IncomingMessage,
  listener: ListenerView,
  publicUrl: string | null,
): SwitchboardError | null {
  if (listener.local) return null
  return guardHost(request, listener, publicUrl) ?? (isRead(request) ? null : guardOrigin(request, publicUrl))
}

/** A WebSocket begins with a GET that browsers send to any site, so its Origin is checked too. */
export function guardSocket(
  request: IncomingMessage,
  listener: ListenerView,
  publicUrl: string | null,
): SwitchboardError | null {
  if (listener.local) return null
  return (
    unclearHead(request, listener) ??
    guardHost(request, listener, publicUrl) ??
    guardOrigin(request, publicUrl)
  )
}

function guardHost(
  request: IncomingMessage,
  listener: ListenerView,
  publicUrl: string | null,
): SwitchboardError | null {
  const { host } = request.headers
  if (listener.loopback && !isLoopbackName(host) && hostName(host) !== publicHost(publicUrl)) {
    return new SwitchboardError('forbidden', 'the Host header is not one of this server', {
      hint: 'use localhost or 127.0.0.1, or set server.public_url',
    })
  }
  return null
}

function guardOrigin(request: IncomingMessage, publicUrl: string | null): SwitchboardError | null {
  const { host, origin } = request.headers
  const site = request.headers['sec-fetch-site']
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (foreign || (origin !== undefined && !isOwnOrigin(origin, host, publicUrl))) {
    return new SwitchboardError('forbidden', 'the request comes from a page of another site')
  }
  return null
}

function isRead(request: IncomingMessage): boolean {
  return request.method === 'GET' || request.method === 'HEAD'
}

function isOwnOrigin(origin: string, host: string | undefined, publicUrl: string | null): boolean {
  const given = parse(origin)
  if (given === null || !/^https?:$/.test(given.protocol)) return false
  const own = parse(publicUrl ?? '')
  if (own !== null && given.origin === own.origin) return true
  return host !== undefined && given.host === host.toLowerCase()
}

function publicHost(publicUrl: string | null): string | null {
  const url = parse(publicUrl ?? '')
  return url === null ? null : url.hostname
}

function parse(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null
}
