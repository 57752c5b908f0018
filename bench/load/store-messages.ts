// The messages between the benchmark and a process with its own store (a node without the gateway).

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
  /** Queues turns one at a time and reports when each began and was committed. */
  | { readonly do: 'write'; readonly count: number; readonly prefix: string }
  /** Asks for the hints that this node received since the last question. */
  | { readonly do: 'heard' }

/** Nanoseconds of the machine's monotonic clock, which all its processes share. */
export interface Written {
  readonly lane: string
  readonly began: number
  readonly committed: number
}

export interface Claimed {
  /** The number of lanes that this node won. */
  readonly won: number
  /** The number of lanes that it asked for. Other nodes won the rest. */
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
