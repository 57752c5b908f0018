// The link for another device: the address that it can reach, as the page and the gateway know it.

/** For another device: where it opens, and why it may not. */
export interface FreshLink {
  readonly href: string
  readonly warning: string | null
}

export interface LinkAnswer {
  readonly link: string
  readonly reachable?: { readonly base: string; readonly warning: string | null }
}

/** A page that came from elsewhere shows the way that it took; one of this machine asks the gateway for another. */
export function linkFor({ link, reachable }: LinkAnswer): FreshLink {
  const here = new URL(link, location.href)
  const near = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(here.hostname)
  if (!near || reachable === undefined) return { href: here.href, warning: null }
  return {
    href: new URL(`${here.pathname}${here.hash}`, reachable.base).href,
    warning: reachable.warning,
  }
}
