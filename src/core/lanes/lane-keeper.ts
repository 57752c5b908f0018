// The lanes that this node holds, kept by one rule for both queues.
//
//   taken ──▶ held ──nothing open──▶ resting ──work comes──▶ held
//              │                        └──a second later──▶ given back
//              └──another node has it──▶ lost
//
// A lane that is held or rests is renewed every quarter of its lease. A lane that could not be renewed is lost, and
// nothing more is written for it. A lane rests for a second before it is given back, because the next message of a
// conversation often follows soon. A hint about a lane that was just given back still concerns this node: other nodes
// leave it to the last holder.
import type { Cancel, Clock, Logger, Store } from '../../contract/index.ts'

export interface KeptLane {
  readonly lane: string
  readonly token: number
  /** Lease end by this node's clock. Until then no other node can have the lane. */
  until: number
  /** Set while nothing is open in the lane. */
  restingSince: number | null
}

export interface LaneKeeper<Hold extends KeptLane> {
  get(lane: string): Hold | undefined
  all(): readonly Hold[]
  /** Held, or given back a moment ago. */
  knows(lane: string): boolean
  /** Records a taken lane. `askedAt` is the start of its lease, as seen from here. */
  keep(hold: Hold, askedAt: number): void
  /** Marks a lane without open work. It is given back soon, unless work comes. */
  rest(hold: Hold): void
  /** Gives lanes back at once. */
  release(holds: readonly Hold[]): Promise<void>
  /** Forgets the lane without a write, because it is no longer ours. */
  forget(hold: Hold): void
  /**
   * Whether the lease ran out unnoticed because this process slept. Another node may have the lane, and no more may be
   * sent for it.
   */
  isOver(hold: Hold): boolean
  /** Gives all lanes back. Never throws. */
  stop(): Promise<void>
}

export interface LaneKeeperDeps<Hold extends KeptLane> {
  readonly kind: 'turns' | 'sends'
  readonly store: Pick<Store, 'renewLanes' | 'releaseLanes' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly leaseMs: number
  /** Another node has the lane. It is still kept during this call; the listener forgets it. */
  readonly lost: (hold: Hold) => void
  /** The lane is no longer kept, for any reason. */
  readonly left?: (hold: Hold) => void
}

const REST_MS = 1_000
/** Lanes per commit that renews or gives back. Between two commits the process handles other work. */
const LANES_A_COMMIT = 500

export function createLaneKeeper<Hold extends KeptLane>(deps: LaneKeeperDeps<Hold>): LaneKeeper<Hold> {
  const { kind, store, clock, leaseMs } = deps
  const holds = new Map<string, Hold>()
  /** Lanes that were let go since the renewal before the last one. */
  let left = new Set<string>()
  let justLeft = new Set<string>()
  let cancelTick: Cancel = () => undefined
  let stopped = false
  let renewedAt = clock.now()

  const tick = () => {
    cancelTick = clock.after(REST_MS, () => {
      upkeep()
        .catch((thrown) =>
          deps.log.warn({ error: String(thrown) }, 'lanes could not be renewed; will try again'),
        )
        .finally(() => {
          if (!stopped) tick()
        })
    })
  }

  const upkeep = async () => {
    const now = clock.now()
    await release(
      [...holds.values()].filter(
        (one) => one.restingSince !== null && elapsedMs(now, one.restingSince) >= REST_MS,
      ),
    )
    if (elapsedMs(now, renewedAt) < leaseMs / 4) return
    left = justLeft
    justLeft = new Set()
    const held = [...holds.values()]
    renewedAt = now
    if (held.length === 0) return
    for (const some of slicesOf(held)) {
      const kept = await store.renewLanes(kind, some, leaseMs)
      for (const [index, hold] of some.entries()) {
        if (holds.get(hold.lane) !== hold) continue
        if (kept[index]) hold.until = Math.max(hold.until, now + leaseMs)
        else deps.lost(hold)
      }
    }
  }

  const forget = (hold: Hold) => {
    deps.left?.(hold)
    if (holds.get(hold.lane) === hold) holds.delete(hold.lane)
    left.add(hold.lane)
    justLeft.add(hold.lane)
  }

  const release = async (lanes: readonly Hold[]) => {
    for (const hold of lanes) forget(hold)
    for (const some of slicesOf(lanes)) await store.releaseLanes(kind, some)
  }

  tick()

  return {
    get: (lane) => holds.get(lane),
    all: () => [...holds.values()],
    knows: (lane) => holds.has(lane) || left.has(lane),
    keep(hold, askedAt) {
      const known = holds.get(hold.lane)
      if (known && known !== hold) forget(known)
      hold.restingSince = null
      hold.until = Math.max(hold.until, askedAt + leaseMs)
      holds.set(hold.lane, hold)
    },
    rest(hold) {
      hold.restingSince = clock.now()
    },
    release,
    forget,
    isOver: (hold) => store.shared && clock.now() >= hold.until,
    async stop() {
      stopped = true
      cancelTick()
      // Best effort: a lane that is not given back is free when its lease ends.
      await release([...holds.values()]).catch(() => undefined)
    },
  }
}

function* slicesOf<Hold>(lanes: readonly Hold[]): Iterable<readonly Hold[]> {
  for (let from = 0; from < lanes.length; from += LANES_A_COMMIT)
    yield lanes.slice(from, from + LANES_A_COMMIT)
}

/** In either direction: a wall clock that was set back must not delay the renewal of a lease. */
function elapsedMs(now: number, then: number): number {
  return Math.abs(now - then)
}
