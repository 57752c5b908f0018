// The lease under a link: whether this node may be connected for an integration now, and what is told while it may not.
// Where an integration has no lease, this node always may.
import { type Clock, LEASE_MS, LEASE_RENEW_MS, type LinkLease, type LinkState } from '../../contract/index.ts'
import { createLeaseHold } from './lease-hold.ts'

export interface LeasedLink {
  /** Asks for the lease where it is not held, and after a failure: that may have been that somebody else has it. */
  mayConnect(failures: number): Promise<boolean>
  /** It is another node's, or may be: nothing more goes out or in here. */
  isLost(): boolean
  /** Never throws: what is not given back runs out. */
  release(): Promise<void>
}

export interface LeasedLinkDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly tell: (link: LinkState) => void
  /** What the node with the lease does: "another node polls for this integration". */
  readonly words: { readonly lost: string; readonly elsewhere: string; readonly unknown: string }
  /** The connection must end now. */
  readonly onLost: () => void
}

export function createLeasedLink(
  lease: LinkLease | undefined,
  { clock, tell, words, onLost }: LeasedLinkDeps,
): LeasedLink {
  if (lease === undefined)
    return { mayConnect: async () => true, isLost: () => false, release: async () => undefined }
  const hold = createLeaseHold(lease, {
    ...{ clock, leaseMs: LEASE_MS, renewMs: LEASE_RENEW_MS },
    onLost() {
      tell({ state: 'connecting', detail: words.lost })
      onLost()
    },
  })
  return {
    async mayConnect(failures) {
      if (hold.isHeld() && failures === 0) return true
      const answer = await hold.take()
      if (hold.isHeld()) return true
      tell(
        answer === 'elsewhere'
          ? { state: 'waiting', detail: words.elsewhere }
          : { state: 'connecting', detail: words.unknown },
      )
      return false
    },
    isLost: () => !hold.isHeld(),
    release: () => hold.release().catch(() => undefined),
  }
}
