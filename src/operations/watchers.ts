// Who watches the gateway live, and what they hear: the store's hints, those of other nodes included, and that the file
// was read again, also when it is invalid.
import type { ConfigSource } from '../config/config-source.ts'
import type { Store } from '../contract/index.ts'

/** A hint as a line that a page can act on. */
export type Listen = (event: { readonly kind: string; readonly id: string; readonly scope?: string }) => void

export interface Watchers {
  /** `decides`: the watcher may decide approvals, so questions reach a person. Returns how to end it. */
  watch(listen: Listen, who: { readonly decides: boolean }): () => void
  isWatched(): boolean
  approverWatches(): boolean
  /** From now on watchers hear of every row that moves, and of every reload. */
  follow(sources: {
    readonly store: Pick<Store, 'onHint'>
    readonly config: Pick<ConfigSource, 'onReload'>
  }): void
}

export function createWatchers(): Watchers {
  const watchers = new Map<Listen, { readonly decides: boolean }>()
  const tell: Listen = (event) => {
    for (const listen of watchers.keys()) listen(event)
  }
  return {
    watch(listen, who) {
      watchers.set(listen, who)
      return () => watchers.delete(listen)
    },
    isWatched: () => watchers.size > 0,
    approverWatches: () => [...watchers.values()].some(({ decides }) => decides),
    follow({ store, config }) {
      store.onHint((hint) => {
        if (watchers.size === 0 || hint.kind === 'signal') return
        if ('lane' in hint) tell({ kind: hint.kind, id: hint.lane, scope: hint.scope })
        else tell('id' in hint ? hint : { kind: hint.kind, id: '' })
      })
      // An invalid file changes no row, so there is no hint for it.
      config.onReload(() => tell({ kind: 'config', id: '' }))
    },
  }
}
