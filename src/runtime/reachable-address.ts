// The address by which another device reaches this daemon: the public URL, else the machine's address on its network.
// If the daemon listens only on loopback, a warning says so and how to change it.
import { networkInterfaces } from 'node:os'

export interface ReachableAddress {
  /** Without a trailing slash. */
  readonly base: string
  /** Why another device cannot open it, and what to do. Null if no reason is known. */
  readonly warning: string | null
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const EVERYWHERE = /^(0\.0\.0\.0|\[::\])$/
const WAYS =
  'set server.public_url (docs/guide/phone.md has recipes for tailscale serve and a reverse proxy), or server.host: 0.0.0.0 with an admin token'

type Interfaces = Readonly<
  Record<
    string,
    readonly { readonly address: string; readonly family: string; readonly internal: boolean }[] | undefined
  >
>

/** `base` is the public URL, or the address of the listener. */
export function reachableAddress(
  base: string,
  interfaces: Interfaces = networkInterfaces(),
): ReachableAddress {
  const url = new URL(base)
  if (LOOPBACK.test(url.hostname)) return { base, warning: `only this machine reaches ${url.host}: ${WAYS}` }
  if (!EVERYWHERE.test(url.hostname)) return { base, warning: null }
  const own = Object.values(interfaces)
    .flatMap((list) => list ?? [])
    .find(
      ({ address, family, internal }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'),
    )
  if (own === undefined) return { base, warning: `this machine is on no network: ${WAYS}` }
  url.hostname = own.address
  return { base: url.origin, warning: null }
}
