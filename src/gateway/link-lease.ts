// What only one node at a time may do for an integration (a poller, a socket): a named lease in the store. Its token goes
// with every position that is stored, so a node that slept through the end of its lease moves nothing back.
import type { LinkLease, Store } from '../contract/index.ts'

export interface FencedLease extends LinkLease {
  /** What a write under the lease presents; null while it is not held. */
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
