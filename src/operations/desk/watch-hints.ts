// What the console's event stream is told: the store's hints, those of other nodes included, by what they are about; and
// that the file was read again, also when it does not hold.
import type { ConfigSource } from '../../config/config-source.ts'
import type { Desk, Store } from '../../contract/index.ts'

/** Who watches, and whether they may decide approvals. */
export type DeskWatchers = Map<Parameters<Desk['watch']>[0], { readonly decides: boolean }>

/** From now on whoever watches hears of every row that moves, here or elsewhere. */
export function watchHints(store: Pick<Store, 'onHint'>, watchers: DeskWatchers): void {
  store.onHint((hint) => {
    if (watchers.size === 0 || hint.kind === 'signal') return
    const event =
      'lane' in hint
        ? { kind: hint.kind, id: hint.lane, scope: hint.scope }
        : 'id' in hint
          ? hint
          : { kind: hint.kind, id: '' }
    for (const listen of watchers.keys()) listen(event)
  })
}

/** A file that does not hold changes no row, so nobody else would tell. */
export function watchReloads(config: Pick<ConfigSource, 'onReload'>, watchers: DeskWatchers): void {
  config.onReload(() => {
    for (const listen of watchers.keys()) listen({ kind: 'config', id: '' })
  })
}
