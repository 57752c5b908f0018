// What was typed and not yet taken by the gateway: kept in this browser, so that neither a reload nor a dead daemon
// loses it. Each item keeps its client id, which makes every retry the same message.
import type { FileRef } from './model.ts'

export interface Unsent {
  readonly clientId: string
  readonly text: string
  readonly at: number
  readonly attachments: readonly FileRef[]
  readonly replyTo: string | null
}

export interface Outbox {
  all(): readonly Unsent[]
  add(item: Unsent): void
  remove(clientId: string): void
}

/** What the outbox needs of localStorage. A browser that refuses it (private mode) still sends, it only forgets. */
export interface Shelf {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

export function createOutbox(key: string, shelf: Shelf): Outbox {
  // Holds the items only where the shelf cannot: full or forbidden.
  let memory: readonly Unsent[] | null = null

  // Read anew each time: another window of the same browser keeps its items under the same key.
  function all(): readonly Unsent[] {
    if (memory !== null) return memory
    let stored: string | null
    try {
      stored = shelf.getItem(key)
    } catch {
      memory = []
      return memory
    }
    try {
      const items: unknown = JSON.parse(stored ?? '[]')
      return Array.isArray(items) ? items.filter(isUnsent) : []
    } catch {
      return []
    }
  }

  function write(items: readonly Unsent[]): void {
    if (memory !== null) {
      memory = items
      return
    }
    try {
      shelf.setItem(key, JSON.stringify(items))
    } catch {
      memory = items
    }
  }

  return {
    all,
    add: (item) => write([...all(), item]),
    remove: (clientId) => write(all().filter((item) => item.clientId !== clientId)),
  }
}

function isUnsent(value: unknown): value is Unsent {
  if (typeof value !== 'object' || value === null) return false
  const item = value as Partial<Unsent>
  return (
    typeof item.clientId === 'string' &&
    typeof item.text === 'string' &&
    typeof item.at === 'number' &&
    Array.isArray(item.attachments)
  )
}
