// The lease of a link: whether this node may connect for an integration now, and what is reported while it may not. If
// an integration has no lease, every node may always connect.
import { type Clock, LEASE_MS, LEASE_RENEW_MS, type LinkLease, type LinkState } from '../../contract/index.ts'
import { createLeaseHold } from './lease-hold.ts'
import type { LeaseRules, LinkWords } from './link.ts'

export interface LeasedLink {
  /** Requests the lease if it is not held, and after a failure, because another node may have it by then. */
  mayConnect(failures: number): Promise<boolean>
  /** There is no connection now, so the lease may run out if the rules say so. */
  rest(): void
  /** Never throws. A lease that cannot be released runs out. */
  release(): Promise<void>
}

export interface LeasedLinkDeps {
  readonly clock: Pick<Clock, 'after'>
  readonly rules?: LeaseRules
  readonly report: (link: LinkState) => void
  readonly words: Pick<LinkWords, 'lost' | 'elsewhere' | 'unknown'>
  /** Called when the connection must end now. */
  readonly onLost: () => void
}

export function createLeasedLink(
  lease: LinkLease | undefined,
  { clock, rules = {}, report, words, onLost }: LeasedLinkDeps,
): LeasedLink {
  if (lease === undefined)
    return {
      mayConnect: async () => true,
      rest: () => undefined,
      release: async () => undefined,
    }
  let isResting = false
  const hold = createLeaseHold(lease, {
    clock,
    leaseMs: rules.leaseMs ?? LEASE_MS,
    renewMs: rules.renewMs ?? LEASE_RENEW_MS,
    endingMs: rules.endingMs ?? 0,
    onLost() {
      report({ state: 'connecting', detail: words.lost })
      onLost()
    },
  })
  return {
    async mayConnect(failures) {
      if (hold.isHeld() && failures === 0 && !isResting) return true
      isResting = false
      const answer = await hold.take()
      if (hold.isHeld()) return true
      report(
        answer === 'elsewhere'
          ? { state: 'waiting', detail: words.elsewhere }
          : { state: 'connecting', detail: words.unknown },
      )
      return false
    },
    rest() {
      if (rules.restWhileDown === undefined) return
      isResting = true
      hold.rest()
    },
    release: () => hold.release().catch(() => undefined),
  }
}
