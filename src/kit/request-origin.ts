// Who made an HTTP request: a program, our own page, or some other site's page in a visitor's browser.

type Headers = Readonly<Record<string, string | string[] | undefined>>

const LOOPBACK_NAMES = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i

/** The host of a `Host` header or an origin, lower-case and without the port; null when it is none. */
export function hostOf(hostHeader: string | undefined): string | null {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^:/?#@\s\\]+)(?::\d{1,5})?$/.exec(hostHeader ?? '')
  return match?.[1]?.toLowerCase() ?? null
}

/** A name that only this machine answers to; a rebound DNS name is not one. */
export function isLoopbackHost(hostHeader: string | undefined): boolean {
  const host = hostOf(hostHeader)
  return host !== null && LOOPBACK_NAMES.test(host)
}

/**
 * True when a browser sent it on behalf of another site's page. Programs send neither header; a page of ours has our
 * own host as its origin.
 */
export function sentByOtherSite(headers: Headers): boolean {
  const site = headers['sec-fetch-site']
  if (typeof site === 'string' && site !== 'same-origin' && site !== 'none') return true
  const origin = headers.origin
  if (origin === undefined) return false
  if (typeof origin !== 'string' || typeof headers.host !== 'string') return true
  return (
    !/^https?:\/\//i.test(origin) ||
    origin.replace(/^https?:\/\//i, '').toLowerCase() !== headers.host.toLowerCase()
  )
}
