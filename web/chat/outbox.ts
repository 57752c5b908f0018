// Messages that the gateway has not accepted yet. They are kept in this browser, so that neither a reload nor a dead
// daemon loses them. Each keeps its client id, so that every retry is the same message.
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

/**
 * The part of localStorage that the outbox uses. A browser without it (private mode) still sends, but does not keep.
 */
export interface KeyValueStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

export function createOutbox(key: string, storage: KeyValueStorage): Outbox {
  // Holds the items only if the storage is full or forbidden.
  let memory: readonly Unsent[] | null = null

  // Read each time, because another window of the browser uses the same key.
  function all(): readonly Unsent[] {
    if (memory !== null) return memory
    let stored: string | null
    try {
      stored = storage.getItem(key)
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
      storage.setItem(key, JSON.stringify(items))
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
