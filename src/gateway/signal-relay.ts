// Signals and wake-ups for whoever looks at a conversation, through whichever node. What happens here is shown here and,
// when somebody looks from elsewhere, told to the other nodes; what they tell is shown here. Lossy, like all signals:
// the rows are the truth, and windows look at them by themselves.
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
import type { Links } from '../core/outbound/links.ts'
import type { SignalSink } from '../core/signals.ts'

/** Gathered for as long as nobody notices: a notification costs the database a commit. */
const GATHER_MS = 20
/** Beyond this they are dropped: whoever floods the others with typing marks helps nobody. */
const MOST_GATHERED = 200

export interface SignalRelay {
  readonly signal: SignalSink
  /** A message came in here: windows at other nodes show it, too. */
  received(integration: string, conversation: string): void
}

export function createSignalRelay(deps: {
  readonly store: Pick<Store, 'onHint' | 'tell' | 'shared'>
  readonly clock: Clock
  readonly log: Logger
  readonly links: Links
  readonly cluster: () => Pick<Cluster, 'isWatchedElsewhere'>
}): SignalRelay {
  const { store, clock, log, links } = deps
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
      links.get(to.integration)?.adapter.heard?.(to.conversation)
    } catch (thrown) {
      log.debug({ to: formatAddress(to), error: String(thrown) }, 'a wake-up was lost')
    }
  }

  const isWanted = (integration: string) =>
    store.shared &&
    links.get(integration)?.adapter.heard !== undefined &&
    deps.cluster().isWatchedElsewhere(integration)

  const tell = (key: string, hint: Hint) => {
    if (gathered.size === 0) {
      clock.after(GATHER_MS, () => {
        const all = [...gathered.values()]
        gathered = new Map()
        store.tell(all)
      })
    }
    // The newest of a kind is enough.
    if (gathered.size < MOST_GATHERED || gathered.has(key)) gathered.set(key, hint)
  }

  store.onHint((hint, from) => {
    if (from === null) return
    if (hint.kind === 'sends' && links.get(hint.scope)?.adapter.heard) wake(parseAddress(hint.lane))
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
