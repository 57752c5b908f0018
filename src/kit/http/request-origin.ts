// Tells whether a program, our own page, or another site's page in a browser made an HTTP request.

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * Whether a browser sent it for another site's page. Programs send neither header. A page of ours has our own host as
 * its origin.
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
