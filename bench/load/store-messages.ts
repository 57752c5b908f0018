// What the benchmark and a process that holds a store of its own (a node without the gateway) say to each other.

export type ToStoreNode =
  | {
      readonly do: 'open'
      readonly store: string
      readonly node: string
      readonly entry: string
      readonly key: string
    }
  /** Queues one turn in each of this many fresh sessions. */
  | { readonly do: 'fill'; readonly lanes: number; readonly prefix: string }
  /** Takes, settles and releases lanes until none of them has a queued turn. */
  | { readonly do: 'claim'; readonly lanes: readonly string[] }
  /** Queues turns one at a time and tells when each began and was committed. */
  | { readonly do: 'write'; readonly count: number; readonly prefix: string }
  /** What this node has heard of since the last time it was asked. */
  | { readonly do: 'heard' }

/** Nanoseconds of the machine's monotonic clock, which all its processes share. */
export interface Written {
  readonly lane: string
  readonly began: number
  readonly committed: number
}

export interface Claimed {
  /** Lanes that this node won. */
  readonly won: number
  /** Lanes that it asked for: the others were faster with the rest. */
  readonly asked: number
  readonly began: number
  readonly ended: number
}

export type FromStoreNode =
  | { readonly is: 'open' }
  | { readonly is: 'filled'; readonly lanes: readonly string[] }
  | { readonly is: 'claimed'; readonly claimed: Claimed }
  | { readonly is: 'written'; readonly written: readonly Written[] }
  | { readonly is: 'heard'; readonly heard: readonly { readonly lane: string; readonly at: number }[] }
  | { readonly is: 'failed'; readonly error: string }
