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
  let memory: readonly Unsent[] = read()

  // Read anew each time: another window of the same browser keeps its own items under the same key.
  function read(): readonly Unsent[] {
    try {
      const stored: unknown = JSON.parse(shelf.getItem(key) ?? '[]')
      return Array.isArray(stored) ? stored.filter(isUnsent) : []
    } catch {
      return memory ?? []
    }
  }

  function write(items: readonly Unsent[]): void {
    memory = items
    try {
      shelf.setItem(key, JSON.stringify(items))
    } catch {
      // Full or forbidden: memory still holds it for as long as the page is open.
    }
  }

  const merged = (): readonly Unsent[] => {
    const stored = read()
    const known = new Set(stored.map((item) => item.clientId))
    return [...stored, ...memory.filter((item) => !known.has(item.clientId) && !removed.has(item.clientId))]
  }
  const removed = new Set<string>()

  return {
    all: merged,
    add: (item) => write([...merged(), item]),
    remove(clientId) {
      removed.add(clientId)
      write(merged().filter((item) => item.clientId !== clientId))
    },
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
