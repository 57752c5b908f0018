// The grants in memory. They are loaded at start, read on every message, and loaded again when the store reports a
// change.
import type { Logger, Right, Store } from '../../contract/index.ts'
import type { GrantList } from './approvers.ts'

export interface LiveGrantList extends GrantList {
  load(): Promise<void>
}

export function createGrantList(store: Pick<Store, 'grants' | 'onHint'>, log: Logger): LiveGrantList {
  let byKey = new Map<string, Set<string>>()

  let running: Promise<void> = Promise.resolve()
  let next: Promise<void> | null = null

  const read = async () => {
    const fresh = new Map<string, Set<string>>()
    for (const grant of await store.grants()) {
      const key = grantKey(grant.integration, grant.right)
      const senders = fresh.get(key) ?? new Set()
      fresh.set(key, senders.add(grant.sender))
    }
    byKey = fresh
  }

  /**
   * Reads run one after another. Of two parallel reads, the older one might end last and restore a revoked grant. One
   * waiting read serves all callers.
   */
  const load = (): Promise<void> => {
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = null
        running = read()
        return running
      })
    return next
  }

  store.onHint((hint) => {
    if (hint.kind === 'access')
      load().catch((error) => log.error({ error: String(error) }, 'grants could not be read'))
  })

  return {
    load,
    has: (integration, sender, right) => byKey.get(grantKey(integration, right))?.has(sender) ?? false,
    senders: (integration, right) => [...(byKey.get(grantKey(integration, right)) ?? [])],
  }
}

function grantKey(integration: string, right: Right): string {
  return `${right}:${integration}`
}
