// A named lease in the store for work that only one node at a time may do for an integration (a poller, a socket). Its
// token goes with every stored position, so a node that slept past its lease moves nothing back.
import type { LinkLease, Store } from '../contract/index.ts'

export interface FencedLease extends LinkLease {
  /** Returns the proof for a write under the lease; null while it is not held. */
  fence(): { readonly name: string; readonly token: number } | null
}

export function createLinkLease(
  store: Pick<Store, 'lease' | 'releaseLease'>,
  integration: string,
): FencedLease {
  const name = `link:${integration}`
  let token: number | null = null
  return {
    async take(ttlMs) {
      token = (await store.lease(name, ttlMs))?.token ?? null
      return token !== null
    },
    async release() {
      const held = token
      token = null
      if (held !== null) await store.releaseLease(name, held)
    },
    fence: () => (token === null ? null : { name, token }),
  }
}
