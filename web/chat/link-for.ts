// The link for another device, with an address that the device can reach.

/** The link, and why it may not open there. */
export interface FreshLink {
  readonly href: string
  readonly warning: string | null
}

export interface LinkAnswer {
  readonly link: string
  readonly reachable?: { readonly base: string; readonly warning: string | null }
}

/**
 * A page from another machine shows its own address. A page on this machine uses the address that the gateway found.
 */
export function linkFor({ link, reachable }: LinkAnswer): FreshLink {
  const here = new URL(link, location.href)
  const near = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(here.hostname)
  if (!near || reachable === undefined) return { href: here.href, warning: null }
  return {
    href: new URL(`${here.pathname}${here.hash}`, reachable.base).href,
    warning: reachable.warning,
  }
}
