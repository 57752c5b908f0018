// Signals and wake-ups for watchers of a conversation, through any node. Local ones are shown here and, if a person
// watches elsewhere, sent to other nodes; theirs are shown here. Lossy, like all signals: the rows are the truth, and
// windows read them anyway.
import {
  type Address,
  type Clock,
  formatAddress,
  type Hint,
  type Logger,
  parseAddress,
  type Signal,
  type Store,
} from '../contract/index.ts'
import type { Cluster } from '../core/cluster/cluster.ts'
import type { Links } from '../core/links.ts'
import type { SignalSink } from '../core/signals.ts'

/** Gathered for an unnoticeable time, because a notification costs the database a commit. */
const GATHER_MS = 20
/** More are dropped, so that typing signals cannot flood other nodes. */
const MOST_GATHERED = 200

export interface SignalRelay {
  readonly signal: SignalSink
  /** A message arrived here, so windows at other nodes update. */
  received(integration: string, conversation: string): void
}

export function createSignalRelay(deps: {
  readonly store: Pick<Store, 'onHint' | 'tell' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly links: Links
  readonly cluster: Pick<Cluster, 'isWatchedElsewhere'>
}): SignalRelay {
  const { store, clock, log, links, cluster } = deps
  let gathered = new Map<string, Hint>()

  const show = (to: Address, signal: Signal) => {
    try {
      links.get(to.integration)?.adapter.signal?.(to, signal)
    } catch (thrown) {
      log.debug({ to: formatAddress(to), error: String(thrown) }, 'a signal was lost')
    }
  }

  const wake = (to: Address) => {
    try {
      links.get(to.integration)?.adapter.watchers?.heard(to.conversation)
    } catch (thrown) {
      log.debug({ to: formatAddress(to), error: String(thrown) }, 'a wake-up was lost')
    }
  }

  const isWanted = (integration: string) =>
    store.shared &&
    links.get(integration)?.adapter.watchers !== undefined &&
    cluster.isWatchedElsewhere(integration)

  const tell = (key: string, hint: Hint) => {
    if (gathered.size === 0) {
      clock.after(GATHER_MS, () => {
        const all = [...gathered.values()]
        gathered = new Map()
        store.tell(all)
      })
    }
    // Only the newest of a kind is kept.
    if (gathered.size < MOST_GATHERED || gathered.has(key)) gathered.set(key, hint)
  }

  store.onHint((hint, from) => {
    if (from === null) return
    if (hint.kind === 'sends' && links.get(hint.scope)?.adapter.watchers) wake(parseAddress(hint.lane))
    if (hint.kind !== 'signal') return
    const to = parseAddress(hint.to)
    if (hint.signal) show(to, hint.signal)
    else wake(to)
  })

  return {
    signal(to, signal) {
      show(to, signal)
      if (!isWanted(to.integration)) return
      const at = formatAddress(to)
      const about = signal.kind === 'turn_state' ? signal.turn : ''
      tell(`${signal.kind}\n${at}\n${about}`, { kind: 'signal', to: at, signal })
    },
    received(integration, conversation) {
      if (!isWanted(integration)) return
      const at = formatAddress({ integration, conversation })
      tell(`heard\n${at}`, { kind: 'signal', to: at, signal: null })
    },
  }
}
